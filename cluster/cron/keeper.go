package cron

import (
	"context"
	"slices"
	"time"

	"go.uber.org/zap"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/cluster/cron/internal/plan"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/internal/guard"
	"github.com/understudy-go/understudy/internal/storeclock"
	"github.com/understudy-go/understudy/persistence"
	"github.com/understudy-go/understudy/persistence/journal"
	"github.com/understudy-go/understudy/singleton"
)

// snapshotEvery is how many facts are stored between two snapshots.
const snapshotEvery = 500

type effect = persistence.Effect[plan.Fact]

// A keeper is the instance of a schedule. It turns the time and requests into facts, stores them,
// and then begins runs.
type keeper struct {
	*Schedule
	ctx        *actor.Context[command]
	clock      *storeclock.Clock
	alarm      *storeclock.Timer
	planner    *plan.Planner
	running    map[plan.Key]bool
	stop       context.CancelFunc // of all runs
	runs       context.Context
	begun      bool // it has looked for the first time
	stopping   bool
	generation uint64
	warned     map[string]bool // entries with a problem
}

// keeperOf returns the behavior of the instance of a schedule.
func keeperOf(c *Schedule) actor.Behavior[command] {
	return behaviors.Setup(func(ctx *actor.Context[command]) actor.Behavior[command] {
		k := &keeper{Schedule: c, ctx: ctx, planner: plan.NewPlanner(), running: map[plan.Key]bool{}, warned: map[string]bool{}}
		k.runs, k.stop = context.WithCancel(ctx)
		ctx.Defer(k.stop)
		ctx.Defer(c.figures.close)
		k.clock = storeclock.New(clockOf(c.cfg.Journal, c.system), ctx.Log())
		k.alarm = storeclock.NewTimer(k.clock, func() { ctx.Self().Tell(look{}) })
		ctx.Defer(func() { k.alarm.Set(time.Time{}) })
		return persistence.New("cron/"+c.cfg.Name, c.cfg.Journal, plan.Ledger{}, plan.Ledger.With,
			func(_ *actor.Context[command], l plan.Ledger, cmd command) effect { return k.handle(l, cmd) }, k.options())
	})
}

func (k *keeper) options() persistence.Options[command, plan.Fact, plan.Ledger] {
	options := persistence.Options[command, plan.Fact, plan.Ledger]{OnSignal: k.signal}
	if _, saves := journal.As[journal.SnapshotStore](k.cfg.Journal); saves {
		options.SnapshotEvery, options.DeleteEvents = snapshotEvery, true
	}
	return options
}

func (k *keeper) signal(_ *actor.Context[command], l plan.Ledger, sig persistence.Signal) effect {
	if _, recovered := sig.(persistence.RecoveryCompleted); !recovered {
		return persistence.Unhandled
	}
	generation, err := singleton.GenerationOf(k.ctx).Packed()
	if err != nil {
		panic(err) // the singleton would not have started
	}
	k.generation = generation
	actor.PipeToSelf(k.ctx, func(ctx context.Context) (struct{}, error) {
		k.clock.Refresh(ctx)
		return struct{}{}, nil
	}, func(struct{}, error) command { return begin{} })
	return persistence.None
}

// clockOf returns the clock of a journal. If it has none, most members of the cluster must agree,
// because a single host whose clock is ahead would use up the times of all entries.
func clockOf(j persistence.Journal, s *actor.System) func(context.Context) (time.Time, error) {
	if store, keeps := journal.As[journal.TimerStore](j); keeps {
		return store.Now
	}
	if agreed, clustered := extension.Get[storeclock.Agreed](s); clustered {
		return agreed
	}
	return func(context.Context) (time.Time, error) { return time.Now(), nil }
}

func (k *keeper) now() time.Time { return k.clock.Now().UTC().Round(0) }

func (k *keeper) handle(l plan.Ledger, cmd command) effect {
	switch cmd := cmd.(type) {
	case request:
		if !k.begun {
			return persistence.Stash
		}
		return k.serve(l, cmd)
	case begin:
		k.begun = true
		return k.step(l, k.planner.Declare(l, k.cfg.Entries, k.now())).ThenUnstashAll()
	case look:
		return k.step(l, nil)
	case ended:
		return k.end(l, cmd)
	case stopSoon:
		k.stopping = true
		k.stop()
		return k.settle(persistence.None)
	}
	return persistence.Unhandled
}

// step stores facts, and those that follow from them at this time.
func (k *keeper) step(l plan.Ledger, facts []plan.Fact) effect {
	if k.stopping {
		return k.settle(persist(facts))
	}
	now := k.now()
	l = l.Apply(facts)
	due := k.planner.Due(l, now)
	facts, l = append(facts, due...), l.Apply(due)
	var begun []plan.RunBegun
	for more := true; more; {
		var next []plan.Fact
		next, more = plan.Begin(l, k.host(begun), now), false
		facts, l = append(facts, next...), l.Apply(next)
		for _, f := range next {
			if f, begins := f.(plan.RunBegun); begins {
				begun = append(begun, f)
			} else {
				more = true // a run was given up, so that another one can begin
			}
		}
	}
	k.warn(l, now)
	return persist(facts).Then(func() {
		k.figures.note(facts, l, k.now)
		for _, b := range begun {
			item, _ := l.Item(b.Name)
			k.begin(b, item)
		}
		k.alarm.Set(k.planner.First(l))
	})
}

func persist(facts []plan.Fact) effect { return persistence.Persist(facts...) }

// host returns where runs begin. begun are those that are about to.
func (k *keeper) host(begun []plan.RunBegun) plan.Host {
	return plan.Host{
		Node: k.node, Process: k.process, Generation: k.generation, Room: k.cfg.MaxRuns - len(k.running) - len(begun),
		Running: func(key plan.Key) bool {
			return k.running[key] || slices.ContainsFunc(begun, func(b plan.RunBegun) bool { return plan.KeyOf(b.Name, b.Due) == key })
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
func (k *keeper) end(l plan.Ledger, e ended) effect {
	delete(k.running, e.key)
	if k.runs.Err() != nil && e.err != nil && guard.Is(e.err, context.Canceled) {
		return k.settle(persistence.None)
	}
	fact := plan.RunEnded{Name: e.key.Name, Due: e.due, Outcome: plan.Done, At: k.now()}
	if e.err != nil {
		fact.Outcome, fact.Error = plan.Failed, plan.Shortened(guard.Text(e.err))
		k.ctx.Log().Warn("run failed", zap.String("schedule", k.cfg.Name), zap.String("entry", e.key.Name), zap.Time("due", e.due), zap.Error(e.err))
	}
	return k.step(l, []plan.Fact{fact})
}

// warn logs which entries have no runs, once until they have some.
func (k *keeper) warn(l plan.Ledger, now time.Time) {
	for name, i := range l.Items {
		err := k.planner.Problem(i, now)
		if err != nil && !k.warned[name] {
			k.ctx.Log().Error("an entry has no runs", zap.String("schedule", k.cfg.Name), zap.String("entry", name), zap.Error(err))
		}
		if k.warned[name] = err != nil; err == nil {
			delete(k.warned, name)
		}
	}
}

// answer returns the effect that replies to a request.
func (k *keeper) answer(r request, a answer, err error) effect {
	return persistence.Reply[plan.Fact](r.ReplyTo, actor.Result[answer]{Value: a, Err: err})
}
