package cron

import (
	"context"
	"slices"
	"time"

	"go.uber.org/zap"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/cluster/internal/journaled"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/internal/guard"
	"github.com/understudy-go/understudy/internal/storeclock"
	"github.com/understudy-go/understudy/persistence"
	"github.com/understudy-go/understudy/persistence/journal"
)

// snapshotEvery is how many facts are stored between two snapshots.
const snapshotEvery = 500

type (
	effect = persistence.Effect[fact]
	shell  = journaled.Shell[command, fact, func()]
)

// A keeper is the instance of a schedule. It turns the time and requests into facts, which are
// stored, and then begins runs; see package journaled.
type keeper struct {
	*Schedule
	*shell
	clock    *storeclock.Clock
	alarm    *storeclock.Timer
	planner  *planner
	ledger   ledger // after the facts that are being stored, too
	running  map[key]bool
	stop     context.CancelFunc // of all runs
	runs     context.Context
	begun    bool // it has looked for the first time
	stopping bool
	warned   map[string]bool // entries with a problem
}

// keeperOf returns the behavior of the instance of a schedule.
func keeperOf(c *Schedule) actor.Behavior[command] {
	return journaled.New(journaled.Config[command, fact, ledger]{
		ID: "cron/" + c.cfg.Name, Journal: journaled.JournalOf(c.system), With: ledger.With, SnapshotEvery: snapshotEvery, Tick: look{},
	}, &keeper{Schedule: c, planner: newPlanner(), running: map[key]bool{}, warned: map[string]bool{}})
}

// Begin implements [journaled.Coordinator]. It first asks what time it is.
func (k *keeper) Begin(s *shell, l ledger) effect {
	k.shell, k.ledger = s, l
	k.runs, k.stop = context.WithCancel(s.Ctx)
	s.Ctx.Defer(k.stop)
	s.Ctx.Defer(k.figures.close)
	k.clock = storeclock.New(clockOf(k.system), s.Ctx.Log())
	k.alarm = storeclock.NewTimer(k.clock, func() { s.Ctx.Self().Tell(look{}) })
	s.Ctx.Defer(func() { k.alarm.Set(time.Time{}) })
	actor.PipeToSelf(k.Ctx, func(ctx context.Context) (struct{}, error) {
		k.clock.Refresh(ctx)
		return struct{}{}, nil
	}, func(struct{}, error) command { return begin{} })
	return persistence.None
}

// clockOf returns the clock of the journal. If that has none, most members of the cluster must
// agree, because a single host whose clock is ahead would use up the times of all entries.
func clockOf(s *actor.System) func(context.Context) (time.Time, error) {
	if store, keeps := journal.As[journal.TimerStore](journaled.JournalOf(s)); keeps {
		return store.Now
	}
	if agreed, clustered := extension.Get[storeclock.Agreed](s); clustered {
		return agreed
	}
	return func(context.Context) (time.Time, error) { return time.Now(), nil }
}

func (k *keeper) now() time.Time { return k.clock.Now().UTC().Round(0) }

// Handle implements [journaled.Coordinator].
func (k *keeper) Handle(cmd command) effect {
	switch cmd := cmd.(type) {
	case request:
		if !k.begun {
			return persistence.Stash
		}
		return k.serve(cmd)
	case begin:
		k.begun = true
		return k.step(k.planner.Declare(k.ledger, k.cfg.Entries, k.now())).ThenUnstashAll()
	case look:
		return k.step(nil)
	case ended:
		return k.end(cmd)
	case stopSoon:
		k.stopping = true
		k.stop()
		return k.settle(persistence.None)
	}
	return persistence.Unhandled
}

// Next implements [journaled.Coordinator]. The alarm goes by the clock of the journal instead.
func (k *keeper) Next() (at time.Time, ok bool) { return at, false }

// Do implements [journaled.Coordinator].
func (k *keeper) Do(e func()) { e() }

// step stores facts, and those that follow from them at this time. then is called when they are
// durable, after the runs that follow have begun.
func (k *keeper) step(facts []fact, then ...func()) effect {
	k.ledger = k.ledger.Apply(facts)
	if k.stopping {
		return k.settle(k.Save(facts, then))
	}
	now := k.now()
	due := k.planner.Due(k.ledger, now)
	facts, k.ledger = append(facts, due...), k.ledger.Apply(due)
	var begun []runBegun
	for more := true; more; {
		var next []fact
		next, more = beginDue(k.ledger, k.host(begun), now), false
		facts, k.ledger = append(facts, next...), k.ledger.Apply(next)
		for _, f := range next {
			switch f := f.(type) {
			case runBegun:
				begun = append(begun, f)
			case runEnded:
				k.warnOf(f)
				more = true // a run was given up, so that another one can begin
			default: // nothing else follows from a begin
			}
		}
	}
	k.warn(now)
	return k.Save(facts, append([]func(){func() {
		k.figures.note(facts, k.ledger, k.now)
		for _, b := range begun {
			item, _ := k.ledger.Item(b.Name)
			k.begin(b, item)
		}
		k.alarm.Set(k.planner.First(k.ledger))
	}}, then...))
}

// host returns where runs begin. begun are those that are about to.
func (k *keeper) host(begun []runBegun) host {
	return host{
		Node: k.node, Process: k.process, Generation: k.Epoch, Room: k.cfg.MaxRuns - len(k.running) - len(begun),
		Running: func(key key) bool {
			return k.running[key] || slices.ContainsFunc(begun, func(b runBegun) bool { return keyOf(b.Name, b.Due) == key })
		},
	}
}

// settle ends the instance after effect if no run goes on.
func (k *keeper) settle(e effect) effect {
	if len(k.running) > 0 {
		return e
	}
	return e.ThenStop()
}

// end stores the outcome of a run. One that the end of its context has interrupted begins again on
// the next host.
func (k *keeper) end(e ended) effect {
	delete(k.running, e.key)
	if k.runs.Err() != nil && e.err != nil && guard.Is(e.err, context.Canceled) {
		return k.settle(persistence.None)
	}
	f := runEnded{Name: e.key.Name, Due: e.due, Outcome: Done, At: k.now()}
	if e.err != nil {
		f.Outcome, f.Error = Failed, shortened(guard.Text(e.err))
		k.warnOf(f)
	}
	return k.step([]fact{f})
}

func (k *keeper) warnOf(f runEnded) {
	k.Ctx.Log().Warn("run failed", zap.String("schedule", k.cfg.Name), zap.String("entry", f.Name), zap.Time("due", f.Due), zap.String("error", f.Error))
}

// warn logs which entries have no runs, once until they have some.
func (k *keeper) warn(now time.Time) {
	for name, i := range k.ledger.Items {
		err := k.planner.Problem(i, now)
		if err != nil && !k.warned[name] {
			k.Ctx.Log().Error("an entry has no runs", zap.String("schedule", k.cfg.Name), zap.String("entry", name), zap.Error(err))
		}
		if k.warned[name] = err != nil; err == nil {
			delete(k.warned, name)
		}
	}
}
