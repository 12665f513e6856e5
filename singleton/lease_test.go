package singleton_test

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/persistence"
	"github.com/understudy-go/understudy/persistence/journal"
	"github.com/understudy-go/understudy/singleton"
	"github.com/understudy-go/understudy/singleton/lease"
	"github.com/understudy-go/understudy/testkit"
)

const (
	ttl   = 30 * time.Second
	retry = 5 * time.Second
)

// A reach is the way of one node to a store, which can be cut.
type reach struct {
	lease.Store
	cut atomic.Bool
}

var errCut = errors.New("the store cannot be reached")

func (r *reach) Take(ctx context.Context, c lease.Claim) (lease.Grant, error) {
	if r.cut.Load() {
		return lease.Grant{}, errCut
	}
	return r.Store.Take(ctx, c)
}

func (r *reach) Renew(ctx context.Context, g lease.Grant) (lease.Grant, error) {
	if r.cut.Load() {
		return lease.Grant{}, errCut
	}
	return r.Store.Renew(ctx, g)
}

func (r *reach) Release(ctx context.Context, g lease.Grant) error {
	if r.cut.Load() {
		return errCut
	}
	return r.Store.Release(ctx, g)
}

// leased is a singleton with a lease on every node of c.
type leased struct {
	store  *lease.Memory
	ways   map[string]*reach
	leases map[string]lease.Lease
	refs   map[string]actor.ActorRef[msg]
}

func leaseOnAll(c *cluster, factory func() actor.Behavior[msg], opts ...singleton.Option) *leased {
	l := &leased{
		store: lease.NewMemory(), ways: map[string]*reach{}, leases: map[string]lease.Lease{}, refs: map[string]actor.ActorRef[msg]{},
	}
	for _, n := range c.members {
		l.spawn(c.t, n, factory, opts...)
	}
	synctest.Wait()
	time.Sleep(time.Second)
	return l
}

func (l *leased) spawn(t *testing.T, n *node, factory func() actor.Behavior[msg], opts ...singleton.Option) {
	t.Helper()
	name := n.peer.Name
	way := &reach{Store: l.store}
	end, err := lease.New(way, "one", name, lease.Settings{TTL: ttl})
	require.NoError(t, err)
	l.ways[name], l.leases[name] = way, end
	l.refs[name] = actor.Spawn(n.System, behaviors.Singleton(factory, append(opts, singleton.WithLease(end))...), "one")
}

// The instance starts when the lease is held, and answers.
func TestALeasedInstanceStartsWithTheLease(t *testing.T) {
	inCluster(t, abc, func(t *testing.T, c *cluster) {
		census := testkit.NewCensus(t)
		l := leaseOnAll(c, testkit.Counted(census, mortal))
		requireOne(t, census, "a")
		p := testkit.NewProbe[string](t, c.nodes["c"].System)
		l.refs["c"].Tell(msg{"hello", p.Ref()})
		term := strconv.FormatUint(l.leases["a"].Token(), 10)
		p.Expect(term + ".1 hello")
		require.True(t, l.leases["a"].Valid())
		require.False(t, l.leases["b"].Valid())
		status := c.nodes["a"].status("one")
		require.True(t, status.LeaseHeld)
		require.Contains(t, status.Lease, "one")
	})
}

// A lease that is lost once it has been acquired for the first time, before the answer arrives.
type fleeting struct {
	lease.Lease
	store *lease.Memory
	asked atomic.Int32
}

func (l *fleeting) AcquireAbove(ctx context.Context, floor uint64) (bool, error) {
	held, err := l.Lease.AcquireAbove(ctx, floor)
	if l.asked.Add(1) == 1 {
		l.store.Usurp("one", "somebody", time.Second)
		time.Sleep(ttl) // until the loss has been reported
	}
	return held, err
}

// The check before the first message of the instance finds out.
func TestALeaseThatIsLostBeforeItsAnswerArrivesIsAskedForAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, census, s := lease.NewMemory(), testkit.NewCensus(t), testkit.NewSystem(t)
		l := &fleeting{Lease: store.Lease("one", "a", ttl), store: store}
		actor.Spawn(s, behaviors.Singleton(testkit.Counted(census, mortal), singleton.WithLease(l)), "one")
		time.Sleep(ttl)
		synctest.Wait()
		require.Zero(t, census.Started(), "the lease is not valid")
		status, _ := singleton.StatusOf(s, "one")
		require.False(t, status.LeaseHeld)
		require.ErrorIs(t, status.Obstacle, singleton.ErrLeaseLost)
		time.Sleep(retry)
		synctest.Wait()
		require.True(t, l.Valid())
		require.Equal(t, 1, census.Started())
	})
}

// Without the lease nothing starts; it is asked for at the interval.
func TestNothingStartsWhileTheLeaseIsAnothers(t *testing.T) {
	inCluster(t, abc, func(t *testing.T, c *cluster) {
		store := lease.NewMemory()
		stranger := store.Lease("one", "stranger", ttl)
		held, err := stranger.Acquire(t.Context())
		require.NoError(t, err)
		require.True(t, held)
		census := testkit.NewCensus(t)
		l := &leased{store: store, ways: map[string]*reach{}, leases: map[string]lease.Lease{}, refs: map[string]actor.ActorRef[msg]{}}
		for _, n := range c.members {
			l.spawn(t, n, testkit.Counted(census, mortal))
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		require.Zero(t, census.Started())
		require.Equal(t, singleton.Acquiring, c.nodes["a"].status("one").Phase)
		require.ErrorContains(t, c.nodes["a"].status("one").Obstacle, "held by another")
		require.NoError(t, stranger.Release(t.Context()))
		time.Sleep(retry)
		synctest.Wait()
		requireOne(t, census, "a")
		require.NoError(t, c.nodes["a"].status("one").Obstacle)
	})
}

// An error is one attempt for each interval.
func TestAStoreThatFailsIsAskedOnceForEachInterval(t *testing.T) {
	inCluster(t, []string{"a"}, func(t *testing.T, c *cluster) {
		census := testkit.NewCensus(t)
		l := &leased{store: lease.NewMemory(), ways: map[string]*reach{}, leases: map[string]lease.Lease{}, refs: map[string]actor.ActorRef[msg]{}}
		l.store.SetOutage(errCut)
		l.spawn(t, c.nodes["a"], testkit.Counted(census, mortal))
		time.Sleep(3*retry - time.Second)
		l.store.SetOutage(nil)
		require.Zero(t, census.Started())
		require.ErrorIs(t, c.nodes["a"].status("one").Obstacle, errCut)
		time.Sleep(retry)
		synctest.Wait()
		require.Equal(t, 1, census.Running())
	})
}

// A host that dies is followed when its lease has expired, never before.
func TestAHostThatDiesIsFollowedWhenItsLeaseHasExpired(t *testing.T) {
	inCluster(t, abc, func(t *testing.T, c *cluster) {
		census := testkit.NewCensus(t)
		l := leaseOnAll(c, testkit.Counted(census, mortal))
		l.ways["a"].cut.Store(true) // what dies gives nothing back
		c.crash("a")
		died := time.Now()
		c.downed(c.nodes["a"])
		synctest.Wait()
		p := testkit.NewProbe[string](t, c.nodes["c"].System)
		l.refs["c"].Tell(msg{"waits", p.Ref()})
		p.ExpectNone(ttl*9/10 - ttl/4 - time.Second)
		require.Equal(t, 1, census.Started())
		time.Sleep(ttl + retry - time.Since(died))
		synctest.Wait()
		require.True(t, strings.HasSuffix(p.Receive(), ".1 waits"))
		require.Equal(t, 1, census.Peak())
	})
}

// A lost lease ends the instance at once: the message it is at ends, what
// waits are dead letters, PostStop runs, and it is acquired again.
func TestALostLeaseEndsTheInstanceAtOnce(t *testing.T) {
	inCluster(t, []string{"a"}, func(t *testing.T, c *cluster) {
		var told []string
		slow := func() actor.Behavior[msg] {
			return behaviors.Receive(func(ctx *actor.Context[msg], m msg) actor.Behavior[msg] {
				time.Sleep(time.Second)
				told = append(told, singleton.GenerationOf(ctx).String()+" "+m.Text)
				return behaviors.Same
			}).OnSignal(func(_ *actor.Context[msg], sig actor.Signal) actor.Behavior[msg] {
				if _, stop := sig.(actor.PostStop); stop {
					told = append(told, "stopped")
				}
				return behaviors.Same
			})
		}
		l := leaseOnAll(c, slow)
		for _, text := range []string{"one", "two", "three"} {
			l.refs["a"].Tell(msg{Text: text})
		}
		l.store.Usurp("one", "stranger", 2*time.Second)
		time.Sleep(ttl)
		synctest.Wait()
		require.Contains(t, told, "stopped")
		for _, text := range []string{"one", "two", "three"}[len(told)-1:] {
			letter := c.nodes["a"].deadLetters.Receive()
			require.Equal(t, text, letter.Message.(msg).Text)
			require.ErrorIs(t, letter.Reason, singleton.ErrLeaseLost)
		}
		l.refs["a"].Tell(msg{Text: "four"})
		time.Sleep(2 * retry)
		synctest.Wait()
		require.Equal(t, "stopped", told[len(told)-2])
		require.Equal(t, "3.1 four", told[len(told)-1], "the stranger had the second token")
	})
}

func TestWhatWaitsWhenTheLeaseIsLostAreDeadLetters(t *testing.T) {
	inCluster(t, []string{"a"}, func(t *testing.T, c *cluster) {
		handled := 0
		l := leaseOnAll(c, func() actor.Behavior[msg] {
			return behaviors.Receive(func(*actor.Context[msg], msg) actor.Behavior[msg] {
				time.Sleep(ttl) // longer than the lease lasts without a renewal
				handled++
				return behaviors.Same
			})
		})
		l.ways["a"].cut.Store(true)
		for _, text := range []string{"one", "two", "three"} {
			l.refs["a"].Tell(msg{Text: text})
		}
		time.Sleep(ttl)
		for _, text := range []string{"two", "three"} {
			letter := c.nodes["a"].deadLetters.Receive()
			require.Equal(t, text, letter.Message.(msg).Text)
			require.ErrorIs(t, letter.Reason, singleton.ErrLeaseLost)
		}
		require.Equal(t, 1, handled)
	})
}

// A manager that is stopped gives the lease back, as soon as the instance has ended.
func TestAManagerThatStopsGivesTheLeaseBack(t *testing.T) {
	inCluster(t, []string{"a"}, func(t *testing.T, c *cluster) {
		l := leaseOnAll(c, mortal)
		require.NoError(t, c.nodes["a"].Shutdown(t.Context()))
		held, err := l.store.Lease("one", "stranger", ttl).Acquire(t.Context())
		require.NoError(t, err)
		require.True(t, held)
		time.Sleep(2 * ttl) // the stranger's expires
	})
}

// The lease is given back strictly after the instance has ended, and a
// graceful move does not wait for an interval.
func TestAGracefulMoveTakesTheLeaseAlong(t *testing.T) {
	inCluster(t, abc, func(t *testing.T, c *cluster) {
		census := testkit.NewCensus(t)
		var l *leased
		ended := make(chan bool, 3)
		l = leaseOnAll(c, func() actor.Behavior[msg] {
			return testkit.Counted(census, func() actor.Behavior[msg] {
				return mortal().OnSignal(func(_ *actor.Context[msg], sig actor.Signal) actor.Behavior[msg] {
					if _, stop := sig.(actor.PostStop); stop {
						time.Sleep(3 * time.Second)
						ended <- l.leases["a"].Valid()
					}
					return behaviors.Same
				})
			})()
		})
		p := testkit.NewProbe[string](t, c.nodes["c"].System)
		c.startLeaving("a")
		l.refs["c"].Tell(msg{"moved", p.Ref()})
		time.Sleep(3*time.Second + 300*time.Millisecond)
		require.True(t, strings.HasSuffix(p.Receive(), ".1 moved"))
		require.True(t, <-ended, "the lease was held until the end")
		require.Equal(t, 1, census.Peak())
		c.finishLeaving("a")
	})
}

// A split without downing: both sides believe to host, and one has the lease.
func TestWithALeaseTwoSidesNeverRunTwoInstances(t *testing.T) {
	inCluster(t, []string{"a", "b"}, func(t *testing.T, c *cluster) {
		census := testkit.NewCensus(t)
		l := leaseOnAll(c, testkit.Counted(census, mortal))
		c.net.losing(cut("b"))
		c.showTo(c.nodes["b"], c.nodes["b"])
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		require.Equal(t, 1, census.Peak())
		require.Equal(t, 1, census.Started())
		l.ways["a"].cut.Store(true)
		time.Sleep(ttl + 2*retry)
		synctest.Wait()
		require.Equal(t, 1, census.Peak(), "one ended before the other began")
		require.Equal(t, 2, census.Started())
	})
}

// The same without a lease: two, which is what the lease is for.
func TestWithoutALeaseTwoSidesRunTwoInstances(t *testing.T) {
	inCluster(t, []string{"a", "b"}, func(t *testing.T, c *cluster) {
		census := testkit.NewCensus(t)
		onAll(c, testkit.Counted(census, parrot))
		time.Sleep(time.Second)
		c.net.losing(cut("b"))
		c.showTo(c.nodes["b"], c.nodes["b"])
		time.Sleep(time.Minute)
		synctest.Wait()
		require.Equal(t, 2, census.Peak())
	})
}

// One request that fails restarts nothing.
func TestAHiccupOfTheStoreRestartsNothing(t *testing.T) {
	inCluster(t, []string{"a"}, func(t *testing.T, c *cluster) {
		census := testkit.NewCensus(t)
		l := leaseOnAll(c, testkit.Counted(census, mortal))
		l.store.LoseAnswers(1)
		time.Sleep(10 * ttl)
		require.Equal(t, 1, census.Started())
		require.True(t, l.leases["a"].Valid())
	})
}

// The token is the term, and grows over the end of all members.
func TestTheTokenIsTheTermAndOutlivesTheCluster(t *testing.T) {
	store := lease.NewMemory()
	last := singleton.Generation{}
	for range 3 {
		inCluster(t, abc, func(t *testing.T, c *cluster) {
			store.SetClock(time.Now)
			l := &leased{store: store, ways: map[string]*reach{}, leases: map[string]lease.Lease{}, refs: map[string]actor.ActorRef[msg]{}}
			for _, n := range c.members {
				l.spawn(t, n, mortal)
			}
			time.Sleep(time.Second)
			first := c.nodes["a"].status("one").Generation
			require.True(t, last.Less(first), "%v after %v", first, last)
			c.leave("a")
			time.Sleep(time.Second)
			last = c.nodes["b"].status("one").Generation
			require.True(t, first.Less(last), "%v after %v", last, first)
		})
	}
}

// What has finished stays so: no restart, no move, no revival, and no lease.
func TestWhatHasFinishedIsNotRevived(t *testing.T) {
	inCluster(t, abc, func(t *testing.T, c *cluster) {
		census := testkit.NewCensus(t)
		once := func() actor.Behavior[msg] {
			return behaviors.Receive(func(_ *actor.Context[msg], m msg) actor.Behavior[msg] {
				m.ReplyTo.Tell("done")
				return finished
			})
		}
		l := leaseOnAll(c, testkit.Counted(census, once))
		p := testkit.NewProbe[string](t, c.nodes["c"].System)
		l.refs["c"].Tell(msg{"last", p.Ref()})
		p.Expect("done")
		time.Sleep(time.Second)
		for name, n := range c.nodes {
			require.Equal(t, singleton.Ended, n.status("one").Phase, name)
			require.False(t, l.leases[name].Valid(), name)
			l.refs[name].Tell(msg{Text: "too late"})
			require.ErrorIs(t, n.deadLetters.Receive().Reason, singleton.ErrFinished)
		}
		held, err := l.store.Lease("one", "stranger", ttl).Acquire(t.Context())
		require.NoError(t, err)
		require.True(t, held, "the lease is free")
		l.spawn(t, c.join("d"), testkit.Counted(census, once))
		c.up(c.nodes["d"])
		c.leave("a")
		time.Sleep(time.Hour)
		require.Equal(t, 1, census.Started())
		require.Equal(t, singleton.Ended, c.nodes["d"].status("one").Phase)
	})
}

// Without a lease nothing of this happens.
func TestWithoutALeaseTheStatusKnowsNone(t *testing.T) {
	inCluster(t, []string{"a"}, func(t *testing.T, c *cluster) {
		onAll(c, parrot)
		synctest.Wait()
		status := c.nodes["a"].status("one")
		require.Empty(t, status.Lease)
		require.False(t, status.LeaseHeld)
	})
}

// Settings that make no sense.
func TestALeaseThatMakesNoSenseIsRefused(t *testing.T) {
	require.PanicsWithValue(t, "singleton: nil lease", func() { singleton.WithLease(nil) })
	require.PanicsWithValue(t, "singleton: nil journal of generations", func() { singleton.WithGenerations(nil) })
}

// A shelf is a journal of terms that outlives clusters, and may fail.
type shelf struct {
	persistence.Journal
	last atomic.Uint64
	err  atomic.Pointer[error]
}

func newShelf() *shelf { return &shelf{Journal: journal.NewMemory()} }

func (s *shelf) Claim(ctx context.Context, id string, w journal.WriterID, b journal.Bounds) (journal.Claim, error) {
	if err := s.err.Load(); err != nil {
		return journal.Claim{}, *err
	}
	claim, err := s.Journal.Claim(ctx, id, w, b)
	s.last.Store(claim.Epoch)
	return claim, err
}

func TestTermsOfASourceOutliveTheCluster(t *testing.T) {
	source := newShelf()
	last := uint64(0)
	for range 3 {
		inCluster(t, abc, func(t *testing.T, c *cluster) {
			onAll(c, mortal, singleton.WithGenerations(source))
			time.Sleep(time.Second)
			for _, host := range []string{"a", "b"} {
				term := c.nodes[host].status("one").Generation.Term
				require.Greater(t, term, last)
				require.Equal(t, source.last.Load(), term)
				last = term
				c.leave(host)
				time.Sleep(time.Second)
			}
		})
	}
}

// Two sides that both go on, and count terms in one journal, never have a generation in common; of
// single nodes' journals that would not be so.
func TestTwoSidesWithOneJournalHaveNoGenerationInCommon(t *testing.T) {
	inCluster(t, []string{"a", "b"}, func(t *testing.T, c *cluster) {
		onAll(c, mortal, singleton.WithGenerations(journal.NewMemory()))
		time.Sleep(time.Second)
		c.net.losing(cut("b"))
		c.showTo(c.nodes["b"], c.nodes["b"])
		time.Sleep(time.Minute)
		a, b := c.nodes["a"].status("one"), c.nodes["b"].status("one")
		require.True(t, a.Here)
		require.True(t, b.Here)
		require.Less(t, a.Generation.Term, b.Generation.Term)
	})
}

// A source that fails, or panics, is asked again.
func TestASourceThatFailsIsAskedAgain(t *testing.T) {
	inCluster(t, []string{"a"}, func(t *testing.T, c *cluster) {
		source := newShelf()
		err := errors.New("not now")
		source.err.Store(&err)
		onAll(c, mortal, singleton.WithGenerations(source))
		time.Sleep(time.Minute)
		require.ErrorIs(t, c.nodes["a"].status("one").Obstacle, err)
		source.err.Store(nil)
		time.Sleep(4 * time.Second)
		require.True(t, c.nodes["a"].status("one").Here)
	})
}
