// Package workflow runs functions whose steps are done once, by one process, until their end,
// whatever crashes meanwhile.
//
// This package is experimental: a minor release may change it.
//
//	orders, err := workflow.Start(node, "order", fulfil) // on every node
//	…
//	order, err := orders.Run(ctx, "4711", Order{…}) // a second Run of the id finds the first
//	receipt, err := order.Result(ctx)
//
//	func fulfil(w *workflow.Run, order Order) (Receipt, error) {
//		stock, err := workflow.Step(w, "reserve", reserve)
//		if err != nil {
//			return Receipt{}, err
//		}
//		w.Compensate("release", release)
//		if _, err := workflow.Await[Approved](w, "approval", 7*24*time.Hour); err != nil {
//			return Receipt{}, err
//		}
//		return workflow.Step(w, "charge", charge, workflow.Retry(5, actor.Backoff{Min: time.Second}))
//	}
//
// # Replay
//
// A run is an event-sourced entity of package sharding. The outcome of each step is appended to the
// journal, fenced, before [Step] returns. After a crash, a sleep or a move to another node, the
// function is called again from its beginning: steps whose outcomes are stored return them at once,
// and the first one without an outcome goes on with the work. What the function does between steps
// is repeated each time. It must ask for the same names again, and may otherwise change from one
// version of the program to the next: it may branch, loop, read clocks and draw random numbers.
//
// A run that goes on by another program than before may have outcomes for which its function does
// not ask. They are published as [Changed] before anything new begins. A step whose stored result
// has another type holds the run with [ErrTypeChanged], see [Was]. A run is also held if its
// function panics, or uses a name twice. A run that is held does nothing, and is tried again
// after a second, or up to five minutes later if it is held again, since a new program may be
// there. [Type.Retry] tries at once.
//
// # What runs twice
//
// A step runs again if its process dies after its effect and before its outcome is stored, or loses
// the run to another one. A process keeps an outcome that the journal does not take for at least a
// day. The receiver of a call recognises a repetition by [Key], and a process that was replaced by
// [Token]; package workflow/outside has such receivers. The effect of a [Tx] is there exactly once.
// A step with a stored outcome never runs again, unless an operator says so by [Type.Resume].
//
// # Waiting
//
// [Sleep], [Await], [Child] and the pauses of [Retry] are stored. A run that only waits leaves
// memory after five seconds: its goroutines end as by runtime.Goexit, so their deferred functions
// run, each time. A stored timer or a signal brings the run back. A run costs nothing else
// meanwhile.
//
// # The end
//
// A run whose function returns nil is [Done]. If it returns an error, the compensations run that it
// has registered, the last one first, and the run is [Failed]. A run that is cancelled is
// compensated too, and is [Cancelled]. The result of a run that has ended stays in the journal
// until its persistence id is erased by [persistence.Forget]; [Type.All] finds such runs.
package workflow
