package sharding_test

import (
	"cmp"
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/cluster/sharding"
	"github.com/understudy-go/understudy/internal/effort"
	"github.com/understudy-go/understudy/internal/pause"
	"github.com/understudy-go/understudy/persistence"
	"github.com/understudy-go/understudy/persistence/journal"
	"github.com/understudy-go/understudy/testkit"
	"github.com/understudy-go/understudy/testkit/clustertest"
)

// An errand is a command of entities that have timers.
type errand struct {
	After   time.Duration // when it is due; 0: now, because of a timer
	ReplyTo actor.ActorRef[string]
}

func init() { actor.RegisterType[errand]("sharding-test.errand") }

// An almanac notes when the timers of entities have come.
type almanac struct {
	store *journal.Memory
	slow  time.Duration // what a claim takes
	fails atomic.Int64  // how many handlers of timers are to fail

	claims atomic.Int64
	mu     sync.Mutex // guards all below
	came   map[string][]time.Time
	late   time.Duration // of the latest
	again  int           // attempts after the first
}

func newAlmanac() *almanac {
	return &almanac{store: journal.NewMemory(), came: map[string][]time.Time{}}
}

// A slowJournal is the journal of an almanac.
type slowJournal struct {
	*journal.Memory
	of *almanac
}

func (s slowJournal) Claim(ctx context.Context, id string, by journal.WriterID, b journal.Bounds) (journal.Claim, error) {
	s.of.claims.Add(1)
	if s.of.slow > 0 {
		time.Sleep(s.of.slow)
	}
	return s.Memory.Claim(ctx, id, by, b)
}

// entity schedules the errands that it is told.
func (d *almanac) entity(e sharding.Entity) actor.Behavior[errand] {
	return behaviors.EventSourced(e.PersistenceID(), slowJournal{d.store, d}, 0, func(n int, _ noted) int { return n + 1 },
		func(ctx *actor.Context[errand], n int, m errand) persistence.Effect[noted] {
			if t, fired := persistence.TimerOf(ctx); fired {
				if d.fails.Add(-1) >= 0 {
					panic("as it was told")
				}
				d.note(e.ID, t)
				return persistence.Persist(noted{})
			}
			effect := persistence.Schedule[noted](fmt.Sprint("errand-", n, m.After), time.Now().Add(m.After), errand{})
			return persistence.ThenReply(effect, m.ReplyTo, "noted")
		})
}

func (d *almanac) note(id string, t persistence.Timer) {
	d.mu.Lock()
	defer d.mu.Unlock()
	now := time.Now()
	d.came[id] = append(d.came[id], now)
	d.late = max(d.late, now.Sub(t.Due))
	if t.Attempt > 1 {
		d.again++
	}
}

// state returns how many timers have come, how late the latest was, and how many came again.
func (d *almanac) state() (came int, late time.Duration, again int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, of := range d.came {
		came += len(of)
	}
	return came, d.late, d.again
}

func (d *almanac) start(t *testing.T, s sharding.Host, opts ...sharding.Option) *sharding.Region[errand] {
	t.Helper()
	r, err := sharding.Start(s, "almanac", d.entity, append([]sharding.Option{sharding.Shards(16), sharding.WithTimers(d.store)}, opts...)...)
	require.NoError(t, err)
	return r
}

func schedule(t *testing.T, r *sharding.Region[errand], id string, after time.Duration) {
	t.Helper()
	_, err := actor.AskTimeout(t.Context(), r.Ref(id), time.Minute, func(to actor.ActorRef[string]) errand { return errand{After: after, ReplyTo: to} })
	require.NoError(t, err)
}

func TestASleepingEntityIsWokenForItsTimer(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		d := newAlmanac()
		r := d.start(t, s)
		schedule(t, r, "a", 20*time.Second) // it is awake
		schedule(t, r, "b", time.Hour)
		schedule(t, r, "c", 24*time.Hour)
		time.Sleep(10 * time.Minute)
		require.Zero(t, r.Stats().Awake)
		time.Sleep(48 * time.Hour)
		came, late, again := d.state()
		require.Equal(t, []int{3, 0}, []int{came, again})
		require.Less(t, late, time.Second)
		require.Zero(t, r.Stats().Awake)
	})
}

func TestAnEntityThatPassivatesJustBeforeItsTimerIsWokenInTime(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		d := newAlmanac()
		r := d.start(t, s, sharding.MaxEntities(1))
		for n := range 50 {
			schedule(t, r, fmt.Sprint(n), time.Duration(n)*time.Second/2)
		}
		time.Sleep(time.Minute)
		came, late, _ := d.state()
		require.Equal(t, 50, came)
		require.Less(t, late, time.Second)
	})
}

func TestNothingWakesEntitiesWithoutWithTimersAndTheLogSaysSo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		core, lines := observer.New(zap.WarnLevel)
		d := newAlmanac()
		r, err := sharding.Start(testkit.NewSystem(t, actor.WithLogger(zap.New(core))), "almanac", d.entity)
		require.NoError(t, err)
		for _, id := range []string{"a", "b"} {
			schedule(t, r, id, time.Hour)
		}
		time.Sleep(2 * time.Hour)
		came, _, _ := d.state()
		require.Zero(t, came)
		require.Len(t, lines.FilterMessageSnippet("start the type with WithTimers").All(), 1)
		schedule(t, r, "a", 2*time.Hour)
		time.Sleep(time.Second)
		came, _, _ = d.state()
		require.Equal(t, 1, came, "what has passed comes when it starts")
	})
}

// slowWakes takes ten seconds to answer what it has known at the beginning.
type slowWakes struct{ *journal.Memory }

func (s slowWakes) Wakes(ctx context.Context, in journal.SliceRange, after journal.Wake, before time.Time, limit int) ([]journal.Wake, error) {
	wakes, err := s.Memory.Wakes(ctx, in, after, before, limit)
	return wakes, cmp.Or(err, pause.For(ctx, 10*time.Second))
}

func TestAnEntityThatEndsWhileTheJournalIsReadIsWokenInTime(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		d := newAlmanac()
		r, err := sharding.Start(s, "almanac", d.entity, sharding.WithTimers(slowWakes{d.store}), sharding.MaxEntities(1))
		require.NoError(t, err)
		for n := range 200 {
			schedule(t, r, fmt.Sprint(n), 20*time.Second)
			time.Sleep(300 * time.Millisecond)
		}
		time.Sleep(2 * time.Minute)
		came, late, _ := d.state()
		require.Equal(t, 200, came)
		require.Less(t, late, time.Second)
	})
}

func TestAnEntityWhoseHandlerFailsGetsItsTimerAgain(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		d := newAlmanac()
		d.fails.Store(1)
		r := d.start(t, s)
		schedule(t, r, "a", time.Hour)
		time.Sleep(time.Hour + 3*time.Minute)
		came, late, again := d.state()
		require.Equal(t, []int{1, 1}, []int{came, again})
		require.Less(t, late, 2*time.Minute)
	})
}

func TestWithTimersNeedsAJournalThatKeepsThem(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		_, err := sharding.Start(s, "almanac", newAlmanac().entity, sharding.WithTimers(struct{ persistence.Journal }{journal.NewMemory()}))
		require.ErrorContains(t, err, "needs a journal that keeps timers")
		_, err = sharding.Start(s, "almanac", newAlmanac().entity, sharding.WithTimers(nil))
		require.ErrorContains(t, err, "needs a journal that keeps timers")
	})
}

// inAlmanac runs test with a cluster of three nodes whose entities share an almanac.
func inAlmanac(t *testing.T, test func(t *testing.T, c *clustertest.Cluster, d *almanac, r *sharding.Region[errand])) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		d := newAlmanac()
		c := clustertest.Start(t, 3, clustertest.WithJournal(d.store))
		var first *sharding.Region[errand]
		for _, n := range c.Nodes() {
			if r := d.start(t, n); first == nil {
				first = r
			}
		}
		time.Sleep(20 * time.Second)
		test(t, c, d, first)
	})
}

func TestTimersComeAlthoughTheirNodesCrash(t *testing.T) {
	inAlmanac(t, func(t *testing.T, c *clustertest.Cluster, d *almanac, r *sharding.Region[errand]) {
		for n := range 300 {
			schedule(t, r, fmt.Sprint(n), time.Duration(n+1)*100*time.Millisecond)
		}
		c.Crash("n2")
		time.Sleep(time.Minute)
		came, late, again := d.state()
		require.Equal(t, 300, came-again)
		require.Less(t, late, 15*time.Second, "the failover")
	})
}

func TestTimersComeOnceWhileShardsMove(t *testing.T) {
	inAlmanac(t, func(t *testing.T, c *clustertest.Cluster, d *almanac, r *sharding.Region[errand]) {
		for n := range 300 {
			schedule(t, r, fmt.Sprint(n), 10*time.Second) // due in the second of the move
		}
		time.Sleep(9*time.Second + 900*time.Millisecond)
		c.Leave("n2")
		time.Sleep(time.Minute)
		came, late, again := d.state()
		require.Equal(t, []int{300, 0}, []int{came, again}, "what was begun is acknowledged before the move")
		require.Less(t, late, 3*time.Second)
	})
}

// withTimersThatPassed returns an almanac with n entities whose timers passed while nothing ran.
func withTimersThatPassed(t *testing.T, n int) *almanac {
	t.Helper()
	d, before := newAlmanac(), testkit.NewSystem(t)
	r := d.start(t, before)
	for i := range n {
		schedule(t, r, fmt.Sprint(i), time.Hour)
	}
	require.NoError(t, before.Shutdown(t.Context()))
	time.Sleep(4 * time.Hour)
	return d
}

func TestTimersThatPassedWhileNothingRanComeAtABoundedRate(t *testing.T) {
	effort.Unraced(t)
	synctest.Test(t, func(t *testing.T) {
		const n = 10_000
		d := withTimersThatPassed(t, n)
		d.start(t, testkit.NewSystem(t))
		time.Sleep(500 * time.Millisecond)
		came, _, _ := d.state()
		require.LessOrEqual(t, came, 6000, "no herd")
		time.Sleep(10 * time.Second)
		came, _, again := d.state()
		require.Equal(t, []int{n, 0}, []int{came, again})
	})
}

// Entities that wait to recover take memory, so a node does not start a million of them.
func TestOnlySoManyEntitiesWaitToRecoverForTheirTimers(t *testing.T) {
	effort.Unraced(t)
	synctest.Test(t, func(t *testing.T) {
		const n = 10_000
		d := withTimersThatPassed(t, n)
		d.slow = time.Second
		r := d.start(t, testkit.NewSystem(t), sharding.PassivateAfter(time.Minute))
		for came := 0; came < n; came, _, _ = d.state() {
			time.Sleep(time.Second)
			require.LessOrEqual(t, r.Stats().Awake, 6000, "50 recover in a second, and stay for a minute")
		}
	})
}

// passedWith starts a type whose entities all have timers that have passed. One recovers at a time,
// which takes a second.
func passedWith(t *testing.T, n int, opts ...sharding.Option) (*almanac, *sharding.Region[errand]) {
	d := withTimersThatPassed(t, n)
	d.slow = time.Second
	s := testkit.NewSystem(t)
	persistence.LimitRecoveries(s, 1)
	d.claims.Store(0)
	return d, d.start(t, s, opts...)
}

func TestAnEntityThatWaitsToRecoverDoesNotPassivate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const n = 40
		d, r := passedWith(t, n, sharding.PassivateAfter(3*time.Second))
		time.Sleep(n*time.Second + time.Second)
		came, _, again := d.state()
		require.Equal(t, []int{n, 0}, []int{came, again})
		require.EqualValues(t, n, d.claims.Load(), "each recovers once")
		time.Sleep(15 * time.Second)
		require.Zero(t, r.Stats().Awake)
	})
}

func TestMaxEntitiesEndsNoEntityThatWaitsToRecover(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const n = 40
		d, r := passedWith(t, n, sharding.PassivateAfter(0), sharding.MaxEntities(5))
		time.Sleep(n*time.Second + time.Second)
		came, _, again := d.state()
		require.Equal(t, []int{n, 0}, []int{came, again})
		require.EqualValues(t, n, d.claims.Load(), "each recovers once")
		time.Sleep(5 * time.Minute)
		require.LessOrEqual(t, r.Stats().Awake, 5)
	})
}

// The time for which it may be idle begins when it has recovered.
func TestAnEntityIsIdleFromTheEndOfItsRecovery(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newAlmanac()
		d.slow = 10 * time.Second
		r := d.start(t, testkit.NewSystem(t), sharding.PassivateAfter(4*time.Second))
		r.Ref("a").Tell(errand{After: time.Hour})
		for range 10 + 4 {
			time.Sleep(time.Second - time.Millisecond)
			require.Equal(t, 1, r.Stats().Awake)
			time.Sleep(time.Millisecond)
		}
		time.Sleep(2 * time.Second)
		require.Zero(t, r.Stats().Awake)
	})
}
