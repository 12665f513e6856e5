package telemetry

import (
	"maps"
	"slices"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/actorhook"
)

// own returns what a system counts itself.
func own(s *actor.System) []Family {
	counted := actorhook.Internals(s).(interface{ Kinds() []actorhook.KindCount }).Kinds() // actor implements it
	family := func(name, help string, t Type, value func(actorhook.KindCount) uint64) Family {
		f := Family{Name: name, Help: help, Type: t, Labels: []string{"kind"}}
		for _, k := range counted {
			f.Add(float64(value(k)), k.Name)
		}
		return f
	}
	return []Family{
		family("understudy_actors", "Actors that have been spawned and have not ended.", Gauge, func(k actorhook.KindCount) uint64 { return k.Started - k.Stopped }),
		family("understudy_actors_started_total", "Actors that have been spawned.", Counter, func(k actorhook.KindCount) uint64 { return k.Started }),
		family("understudy_actors_stopped_total", "Actors that have ended, for whatever reason.", Counter, func(k actorhook.KindCount) uint64 { return k.Stopped }),
		family("understudy_actor_failures_total", "Failures of handlers and of starts, whatever became of the actor.", Counter, func(k actorhook.KindCount) uint64 { return k.Failures }),
		family("understudy_actor_restarts_total", "Restarts of actors by supervision.", Counter, func(k actorhook.KindCount) uint64 { return k.Restarts }),
		family("understudy_messages_processed_total", "Messages that actors have handled.", Counter, func(k actorhook.KindCount) uint64 { return k.Messages }),
		deadLetters(s),
	}
}

// deadLetters counts dead letters by reason. Each reason has a series from the start, because an
// increase from no series is not seen.
func deadLetters(s *actor.System) Family {
	f := NewCounter("understudy_dead_letters_total", "Messages that could not be delivered.", "reason")
	counts := maps.Collect(s.DeadLettersByReason())
	for _, reason := range append(slices.Clip(actorhook.DeadLetterReasons), nil) {
		f.Add(float64(counts[reason]), actorhook.ReasonText(reason))
	}
	return f
}
