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
