package telemetry

import (
	"maps"
	"slices"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/actorhook"
)

func own(s *actor.System) []Family {
	of := actorhook.Internals(s).(actorhook.Counted) // actor implements it
	kinds := of.Kinds()
	return slices.Concat(lives(kinds), scheduling(of.Activity()), backlogs(of.Backlogs().Kinds),
		[]Family{deadLetters(s), dropped(kinds), stashes(kinds), processing(kinds), asks(of.AskOutcomes())})
}

func lives(kinds []actorhook.KindCount) []Family {
	actors := NewGauge("understudy_actors", "Actors that have been spawned and have not ended.", "kind")
	started := NewCounter("understudy_actors_started_total", "Actors that have been spawned.", "kind")
	stopped := NewCounter("understudy_actors_stopped_total", "Actors that have ended, for whatever reason.", "kind")
	failures := NewCounter("understudy_actor_failures_total", "Failures of handlers and of starts, whatever became of the actor.", "kind")
	restarts := NewCounter("understudy_actor_restarts_total", "Restarts of actors by supervision.", "kind")
	messages := NewCounter("understudy_messages_processed_total", "Messages that actors have handled.", "kind")
	for _, k := range kinds {
		actors.Add(float64(k.Started-k.Stopped), k.Name)
		started.Add(float64(k.Started), k.Name)
		stopped.Add(float64(k.Stopped), k.Name)
		failures.Add(float64(k.Failures), k.Name)
		restarts.Add(float64(k.Restarts), k.Name)
		messages.Add(float64(k.Messages), k.Name)
	}
	return []Family{actors, started, stopped, failures, restarts, messages}
}

func backlogs(kinds map[string]actorhook.Backlog) []Family {
	waiting := NewGauge("understudy_mailbox_messages", "Messages that wait in the mailboxes of actors, or for room there, of kinds where any do.", "kind")
	oldest := NewGauge("understudy_oldest_request_seconds", "For how long the oldest request has waited or been handled, of kinds that have one whose ask has an end.", "kind")
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		if of := kinds[kind]; of.Waiting > 0 {
			waiting.Add(float64(of.Waiting), kind)
		}
		if of := kinds[kind]; of.Oldest > 0 {
			oldest.Add(of.Oldest.Seconds(), kind)
		}
	}
	return []Family{waiting, oldest}
}

// Most kinds never drop any message, so a kind has series from its first loss on, and then one for
// each reason.
func dropped(kinds []actorhook.KindCount) Family {
	f := NewCounter("understudy_actor_dropped_messages_total", "Messages to actors that have become dead letters, of kinds that have any: a bound has refused them, their asks had ended, or the actor was behind.", "kind", "reason")
	for _, k := range kinds {
		if !slices.ContainsFunc(slices.Collect(maps.Values(k.Dropped)), func(n uint64) bool { return n > 0 }) {
			continue
		}
		for _, reason := range slices.Sorted(maps.Keys(k.Dropped)) {
			f.Add(float64(k.Dropped[reason]), k.Name, reason)
		}
	}
	return f
}

func stashes(kinds []actorhook.KindCount) Family {
	f := NewGauge("understudy_stash_messages", "Messages that actors have stashed, of kinds that have any.", "kind")
	for _, k := range kinds {
		if k.Stashed > 0 {
			f.Add(float64(k.Stashed), k.Name)
		}
	}
	return f
}

// The buckets are few, because there may be many kinds.
func processing(kinds []actorhook.KindCount) Family {
	f := NewHistogram("understudy_message_processing_seconds", "How long handlers took for the messages of a sample.", "kind")
	for _, k := range kinds {
		if k.Processing.Count > 0 {
			f.Series = append(f.Series, Series{Labels: []string{k.Name}, Durations: distribution(k.Processing.Count, k.Processing.Sum, k.Processing.AtMost, coarse)})
		}
	}
	return f
}

func asks(outcomes []actorhook.AskCount) Family {
	f := NewCounter("understudy_asks_total", "Asks of actors that have ended, by outcome; those of unanswered were handled without a reply in time.", "outcome")
	for _, each := range outcomes {
		f.Add(float64(each.Count), each.Outcome)
	}
	return f
}

func scheduling(a actorhook.Activity) []Family {
	return []Family{
		NewGauge("understudy_runners", "Goroutines that run actors, or look for some to run.").With(float64(a.Runners)),
		NewGauge("understudy_ready_actors", "Actors that have something to do and wait for a runner.").With(float64(a.Ready)),
		NewGauge("understudy_blocked_handlers", "Handlers under way that have announced that they block, or were found to.").With(float64(a.Blocked)),
		NewGauge("understudy_slow_handlers", "Handlers that have been under way for a second or longer.").With(float64(a.Slow)),
		NewGauge("understudy_slowest_handler_seconds", "For how long, at least, the slowest handler has been under way.").With(a.Slowest.Seconds()),
	}
}

// Each reason has a series from the start, because an increase from no series is not seen.
func deadLetters(s *actor.System) Family {
	f := NewCounter("understudy_dead_letters_total", "Messages that could not be delivered.", "reason")
	counts := maps.Collect(s.DeadLettersByReason())
	for _, reason := range append(slices.Clip(actorhook.DeadLetterReasons), nil) {
		f.Add(float64(counts[reason]), actorhook.ReasonText(reason))
	}
	return f
}
