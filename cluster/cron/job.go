package cron

import (
	"context"
	"fmt"
	"time"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/internal/guard"
	"github.com/understudy-go/understudy/internal/tenure"
	"github.com/understudy-go/understudy/singleton"
)

// A Run is one run of an entry, as its job sees it.
type Run struct {
	Entry   string    // the name of the entry
	Args    string    // of the entry
	Due     time.Time // when it was due, in the zone of the entry; jitter delays it
	Manual  bool      // Trigger has started it
	Attempt int       // from 1; another one follows if the host ends during the run

	// Generation is the fencing token: an instance of the schedule that was replaced has a lower
	// one than its successor. A store that refuses writes with a lower one than it has seen is safe
	// from a stale host.
	Generation singleton.Generation
}

// ID returns the name and the due time of the run, which are the same for all attempts, such as
// "invoices@2026-11-27T05:30:00Z". A recipient that remembers the ids of the runs that it has
// handled handles each once.
func (r Run) ID() string { return r.Entry + "@" + r.Due.UTC().Format(time.RFC3339Nano) }

// A Job is what an entry runs. [Func], [Tell] and [Ask] return one.
type Job struct {
	run func(ctx context.Context, r Run) error
}

// Func returns a job that calls f on the host of the schedule, in a goroutine of its own. ctx ends
// when the schedule moves to another node or stops; f should then return soon, with the error of
// ctx. The run begins again on the next host, as another attempt. Any other error, or a panic, is
// the outcome of the run: it is logged, stored in the history, and not repeated.
func Func(f func(ctx context.Context, r Run) error) Job {
	if f == nil {
		panic("cron: the function of a job is nil")
	}
	return Job{run: f}
}

// Tell returns a job that sends a message to an actor, an entity or a placed actor. f returns the
// recipient and the message. The run ends when the message has been sent, so it neither overlaps
// with the next one nor fails if the message is lost on the way: use [Ask] if you must know.
func Tell[M any](f func(Run) (to actor.ActorRef[M], msg M)) Job {
	if f == nil {
		panic("cron: the function of a job is nil")
	}
	return Func(func(_ context.Context, r Run) error {
		to, msg := f(r)
		to.Tell(msg)
		return nil
	})
}

// Ask returns a job that sends a message to an actor, an entity or a placed actor, and ends when
// the recipient has replied. An error in the [actor.Result], or no reply within the timeout, is the
// outcome of the run. to returns the recipient, and request the message with the ref for the reply.
//
// The message is sent once in each attempt. If the node of the recipient ends before the reply, the
// run has failed, whether or not the message was handled. For work that must be done all the same,
// use [Func] with a loop that asks until there is a reply, and a recipient that knows [Run.ID].
func Ask[M, T any](timeout time.Duration, to func(Run) actor.ActorRef[M], request func(r Run, replyTo actor.ActorRef[actor.Result[T]]) M) Job {
	if timeout <= 0 {
		panic(fmt.Sprintf("cron: the timeout %v of a job is not positive", timeout))
	}
	return Func(func(ctx context.Context, r Run) error {
		_, err := actor.AskResultTimeout(ctx, to(r), timeout, func(replyTo actor.ActorRef[actor.Result[T]]) M {
			return request(r, replyTo)
		})
		return err
	})
}

// begin begins a run in an actor of its own, because the instance must not end before its runs have
// returned.
func (k *keeper) begin(b runBegun, item *item) {
	key := keyOf(b.Name, b.Due)
	k.running[key] = true
	job, known := k.cfg.Jobs[item.Entry.JobName()]
	if !known { // this program is older than the one that has set the entry
		job = Func(func(context.Context, Run) error {
			return fmt.Errorf("the program of this host has no job %q", item.Entry.JobName())
		})
	}
	run := runOf(b, item)
	interrupted, self := k.runs, k.Ctx.Self()
	actor.Spawn(k.Ctx, behaviors.Setup(func(ctx *actor.Context[struct{}]) actor.Behavior[struct{}] {
		within, cancel := context.WithCancel(ctx)
		defer cancel()
		defer context.AfterFunc(interrupted, cancel)()
		extension.WillBlock(ctx)                                            //nolint:contextcheck // of the actor of the run
		self.Tell(ended{key: key, due: b.Due, err: call(within, job, run)}) //nolint:contextcheck // likewise
		return behaviors.Stopped
	}), "")
}

// call returns the error of a job; a panic is one.
func call(ctx context.Context, job Job, run Run) (err error) {
	if failed := guard.Apart(func() { err = job.run(ctx, run) }); failed != nil {
		return failed
	}
	return err
}

func runOf(b runBegun, item *item) Run {
	run := Run{Entry: b.Name, Args: item.Entry.Args, Due: b.Due.UTC(), Attempt: b.Attempt, Generation: singleton.Generation(tenure.Unpack(b.Generation))}
	if zone, err := time.LoadLocation(item.Entry.Zone); err == nil {
		run.Due = run.Due.In(zone)
	}
	for _, o := range item.Open {
		if o.Due.Equal(b.Due) {
			run.Manual = o.Manual
		}
	}
	return run
}
