package telemetry

import (
	"maps"
	"slices"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/actorhook"
)

// own returns what a system counts itself.
func own(s *actor.System) []Family {
	of := countedBy(s)
	counted := of.Kinds()
	family := func(name, help string, t Type, value func(actorhook.KindCount) uint64) Family {
		f := Family{Name: name, Help: help, Type: t, Labels: []string{"kind"}}
		for _, k := range counted {
			f.Add(float64(value(k)), k.Name)
		}
		return f
	}
	all := []Family{
		family("understudy_actors", "Actors that have been spawned and have not ended.", Gauge, func(k actorhook.KindCount) uint64 { return k.Started - k.Stopped }),
		family("understudy_actors_started_total", "Actors that have been spawned.", Counter, func(k actorhook.KindCount) uint64 { return k.Started }),
		family("understudy_actors_stopped_total", "Actors that have ended, for whatever reason.", Counter, func(k actorhook.KindCount) uint64 { return k.Stopped }),
		family("understudy_actor_failures_total", "Failures of handlers and of starts, whatever became of the actor.", Counter, func(k actorhook.KindCount) uint64 { return k.Failures }),
		family("understudy_actor_restarts_total", "Restarts of actors by supervision.", Counter, func(k actorhook.KindCount) uint64 { return k.Restarts }),
		family("understudy_messages_processed_total", "Messages that actors have handled.", Counter, func(k actorhook.KindCount) uint64 { return k.Messages }),
		deadLetters(s),
		mailboxes(of.Mailboxes()),
		stashes(counted),
		processing(counted),
		asks(of.AskOutcomes()),
	}
	return append(all, scheduling(of.Activity())...)
}

func countedBy(s *actor.System) actorhook.Counted {
	return actorhook.Internals(s).(actorhook.Counted) // actor implements it
}

func mailboxes(waiting map[string]int) Family {
	f := Family{
		Name: "understudy_mailbox_messages", Help: "Messages that wait in the mailboxes of actors, of kinds where any do.",
		Type: Gauge, Labels: []string{"kind"},
	}
	for _, kind := range slices.Sorted(maps.Keys(waiting)) {
		f.Add(float64(waiting[kind]), kind)
	}
	return f
}

func stashes(kinds []actorhook.KindCount) Family {
	f := Family{
		Name: "understudy_stash_messages", Help: "Messages that actors have stashed, of kinds that have any.",
		Type: Gauge, Labels: []string{"kind"},
	}
	for _, k := range kinds {
		if k.Stashed > 0 {
			f.Add(float64(k.Stashed), k.Name)
		}
	}
	return f
}

// processing has the durations of handlers, in few buckets, because there may be many kinds.
func processing(kinds []actorhook.KindCount) Family {
	f := Family{
		Name: "understudy_message_processing_seconds", Help: "How long handlers took for the messages of a sample.",
		Type: Histogram, Labels: []string{"kind"},
	}
	for _, k := range kinds {
		if k.Processing.Count > 0 {
			f.Series = append(f.Series, Series{Labels: []string{k.Name}, Durations: distribution(k.Processing, coarse...)})
		}
	}
	return f
}

func asks(outcomes []actorhook.AskCount) Family {
	f := Family{
		Name: "understudy_asks_total", Help: "Asks of actors that have ended, by outcome.",
		Type: Counter, Labels: []string{"outcome"},
	}
	for _, each := range outcomes {
		f.Add(float64(each.Count), each.Outcome)
	}
	return f
}

func scheduling(a actorhook.Activity) []Family {
	gauge := func(name, help string, value float64) Family {
		f := Family{Name: name, Help: help, Type: Gauge}
		f.Add(value)
		return f
	}
	return []Family{
		gauge("understudy_runners", "Goroutines that run actors, or look for some to run.", float64(a.Runners)),
		gauge("understudy_ready_actors", "Actors that have something to do and wait for a runner.", float64(a.Ready)),
		gauge("understudy_blocked_handlers", "Handlers under way that have announced that they block, or were found to.", float64(a.Blocked)),
		gauge("understudy_slow_handlers", "Handlers that have been under way for a second or longer.", float64(a.Slow)),
		gauge("understudy_slowest_handler_seconds", "For how long, at least, the slowest handler has been under way.", a.Slowest.Seconds()),
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
