// Package cron runs jobs at the times of cron expressions: each run once in the whole cluster,
// whichever node hosts the schedule.
//
//	schedule, err := cron.Start(node, cron.Config{
//		Jobs: map[string]cron.Job{
//			"invoices": cron.Func(func(ctx context.Context, run cron.Run) error { return send(ctx, run.ID()) }),
//		},
//		Entries: []cron.Entry{
//			{Name: "invoices", Spec: "30 6 * * MON-FRI", Zone: "Europe/Berlin", Missed: cron.Once},
//		},
//	})
//
// Call Start on each node. One instance runs the schedule, as a singleton whose state is in
// cluster.Config.Journal: the entries that were changed at run time, and what has become of runs.
// When its host leaves or crashes, another node goes on. Without a cluster the schedule runs where
// it is started, in the journal of persistence.WithJournal.
//
// # What is guaranteed
//
//   - A run that is due begins at least once, or its entry says that it does not: see Missed and
//     Overlap. What was skipped is in the history and in the metrics, never silent.
//   - All attempts of a run have the same [Run.ID]. Attempt is greater than 1 if the host of an
//     earlier attempt has ended during the run, or has interrupted it because it left. If that has
//     happened on ten hosts, the run has failed.
//   - An instance stores that a run begins before it begins it. The journal refuses this to an
//     instance that was replaced, so a stale host begins nothing. A run that was going on there may
//     overlap with the next attempt; its [Run.Generation] is lower.
//   - A run that has returned an error has failed, and is not repeated. Let the job itself repeat
//     what is worth it.
//
// # Time
//
// Expressions have the five fields of crontab(5), in UTC or in the time zone of the entry. When
// clocks are set forward, the times that they skip are due once, right after the change. When they
// are set back, a time that they show twice is due the first time only. An entry whose hour
// begins with a star names no time of day, so it simply goes on: "*/15 * * * *" runs every fifteen
// minutes.
//
// The clock is the one of the journal, if it has one, such as the clock of a PostgreSQL server;
// otherwise the time that more than half of the members have reached. If it is set back, nothing
// runs twice; if it is set forward, the runs in between were missed. Times that a clock has used up
// because it was ahead come back with Rewind.
//
// # Changes at run time
//
// Set, Remove, Pause and Resume change entries through the journal: the change is stored when the
// method returns, and holds after restarts. An entry that the program declares replaces such a
// change as soon as the declaration differs from the one before.
//
// # Testing
//
// In a bubble of testing/synctest, a year of a schedule takes a second or two: start it on a system
// of testkit with persistence.WithJournal(journal.NewMemory()), and sleep.
//
// This package is experimental: a minor release may change it.
package cron
