package main

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/cluster/sharding"
	"github.com/understudy-go/understudy/internal/lab/journals"
	"github.com/understudy-go/understudy/persistence"
	"github.com/understudy-go/understudy/persistence/journal"
)

// kind is the name of the type of entities.
const kind = "bell"

// patience is how long the measurement waits for timers after the last one was due.
const patience = 2 * time.Minute

// A Ring is the message of a timer. Without a timer, it wakes an entity.
type Ring struct{}

// A Rung is its event.
type Rung struct{}

func init() {
	actor.RegisterType[Ring]("timers.ring")
	actor.RegisterType[Rung]("timers.rung")
}

// bells are the entities of a measurement, and what it notes.
type bells struct {
	settings
	store journal.TimerStore
	first time.Time // when the first timer is due

	mu    sync.Mutex // guards all below
	late  []time.Duration
	again int       // attempts after the first
	last  time.Time // when the last one came
}

// A report is the result of a measurement.
type report struct {
	settings
	came, again int
	perSecond   float64
	late        []time.Duration // in ascending order
	heap        uint64          // the greatest, in bytes
}

// String returns the report as a line.
func (r report) String() string {
	who := "asleep"
	if r.awake > 0 {
		who = fmt.Sprint(r.awake, " awake")
	}
	at := func(q float64) time.Duration {
		return r.late[int(q*float64(len(r.late)-1))].Round(time.Millisecond)
	}
	return fmt.Sprintf("%s, %s, %d/s for %d s beside %d: %d came, %d again, %.0f/s, late by %v (p50), %v (p99), %v (max), heap %d MB",
		journals.Shown(r.journal), who, r.rate, r.seconds, r.stored, r.came, r.again, r.perSecond, at(0.5), at(0.99), at(1), r.heap>>20)
}

func (b *bells) entity(e sharding.Entity) actor.Behavior[Ring] {
	return behaviors.EventSourced(e.PersistenceID(), b.store, 0,
		func(n int, _ Rung) int { return n + 1 },
		func(ctx *actor.Context[Ring], _ int, _ Ring) persistence.Effect[Rung] {
			t, fired := persistence.TimerOf(ctx)
			if !fired {
				return persistence.None
			}
			b.note(t)
			return persistence.Persist(Rung{})
		})
}

func (b *bells) note(t persistence.Timer) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if t.Attempt > 1 {
		b.again++
		return
	}
	b.last = time.Now()
	b.late = append(b.late, b.last.Sub(t.Due))
}

func (b *bells) came() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.late)
}

// ring starts the entities, and waits for the timers.
func (b *bells) ring(ctx context.Context) (report, error) {
	system := actor.NewSystem("timers", actor.WithLogger(zap.NewNop()))
	persistence.LimitRecoveries(system, b.recover)
	passivate := 5 * time.Second
	if b.awake > 0 {
		passivate = 0
	}
	r, err := sharding.Start(system, kind, b.entity, sharding.WithTimers(b.store), sharding.PassivateAfter(passivate))
	if err != nil {
		return report{}, err
	}
	for i := range b.awake {
		r.Ref(fmt.Sprint("near-", i)).Tell(Ring{})
	}
	heap, err := b.wait(ctx)
	return b.report(heap), errors.Join(err, system.Shutdown(ctx))
}

// wait returns when all timers have come, and how large the heap has been.
func (b *bells) wait(ctx context.Context) (heap uint64, err error) {
	ctx, cancel := context.WithDeadline(ctx, b.due(b.timers()).Add(patience))
	defer cancel()
	tick := time.NewTicker(time.Second / 2)
	defer tick.Stop()
	for b.came() < b.timers() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return heap, fmt.Errorf("%d of %d timers have come: %w", b.came(), b.timers(), ctx.Err())
		}
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		heap = max(heap, m.HeapInuse)
	}
	return heap, nil
}

func (b *bells) report(heap uint64) report {
	b.mu.Lock()
	defer b.mu.Unlock()
	slices.Sort(b.late)
	return report{
		settings: b.settings, came: len(b.late), again: b.again, late: b.late, heap: heap,
		perSecond: float64(len(b.late)) / b.last.Sub(b.first).Seconds(),
	}
}
