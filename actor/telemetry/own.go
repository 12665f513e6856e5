package telemetry

import (
	"strings"

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

// deadLetters counts dead letters by reason.
func deadLetters(s *actor.System) Family {
	f := Family{
		Name: "understudy_dead_letters_total", Help: "Messages that could not be delivered.",
		Type: Counter, Labels: []string{"reason"},
	}
	for reason, count := range s.DeadLettersByReason() {
		f.Add(float64(count), reasonText(reason))
	}
	return f
}

// reasonText returns the text of a reason without the name of the package. A nil means all reasons
// that are not one of the errors of package actor.
func reasonText(reason error) string {
	if reason == nil {
		return "other"
	}
	_, text, _ := strings.Cut(reason.Error(), ": ")
	return text
}
