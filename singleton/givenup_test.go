package singleton_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/persistence"
	"github.com/understudy-go/understudy/persistence/journal"
	"github.com/understudy-go/understudy/singleton"
)

func poison(sender string) numbered { return numbered{sender + "'s poison", 0} }

// A bug makes instances fail at poison.
type bug struct {
	book   *ledger
	mended atomic.Bool

	mu    sync.Mutex // guards tries
	tries map[string]int
}

func (l *ledger) of(sender string) []int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.handled[sender])
}

func newBug() *bug { return &bug{book: newLedger(), tries: map[string]int{}} }

func (b *bug) handle(m numbered) {
	b.mu.Lock()
	if m.N == 0 {
		b.tries[m.Sender]++
	}
	b.mu.Unlock()
	if m.N == 0 && !b.mended.Load() {
		panic("cannot handle zero")
	}
	b.book.add(m)
}

func (b *bug) tried(m numbered) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.tries[m.Sender]
}

func (b *bug) plain() actor.Behavior[numbered] {
	return behaviors.Receive(func(_ *actor.Context[numbered], m numbered) actor.Behavior[numbered] {
		b.handle(m)
		return behaviors.Same
	})
}

// stored is likewise event-sourced.
func (b *bug) stored(j persistence.Journal) func() actor.Behavior[numbered] {
	return func() actor.Behavior[numbered] {
		return behaviors.EventSourced("stored", j, 0, func(n int, _ written) int { return n + 1 },
			func(_ *actor.Context[numbered], _ int, m numbered) persistence.Effect[written] {
				b.handle(m)
				return persistence.Persist(written{})
			})
	}
}

func TestAPoisonousMessageIsPutAsideAndTheOthersGoOn(t *testing.T) {
	for name, instance := range map[string]func(b *bug) func() actor.Behavior[numbered]{
		"plain":         func(b *bug) func() actor.Behavior[numbered] { return b.plain },
		"event-sourced": func(b *bug) func() actor.Behavior[numbered] { return b.stored(journal.NewMemory()) },
	} {
		t.Run(name, func(t *testing.T) {
			inCluster(t, []string{"a", "b"}, func(t *testing.T, c *cluster) {
				b := newBug()
				refs := onAll(c, instance(b), singleton.AtLeastOnce(20))
				for sender, ref := range refs {
					go func() {
						for n := range 100 {
							if n == 50 {
								ref.Tell(poison(sender))
							}
							ref.Tell(numbered{sender, n + 1})
							time.Sleep(time.Millisecond)
						}
					}()
				}
				time.Sleep(time.Minute)
				b.book.requireAll(t, 100, "a", "b")
				for sender := range refs {
					require.Equal(t, 3, b.tried(poison(sender)))
					requirePutAside(t, c.nodes[sender], poison(sender))
				}
				b.mended.Store(true)
				for sender := range refs {
					require.NoError(t, singleton.Resend(c.nodes[sender].System, 1))
				}
				time.Sleep(time.Second)
				for sender := range refs {
					require.Equal(t, []int{0}, b.book.of(poison(sender).Sender), "it is handled once")
					require.Empty(t, singleton.ListGivenUp(c.nodes[sender].System))
					require.ErrorIs(t, singleton.Resend(c.nodes[sender].System, 1), singleton.ErrNotKept)
					require.Equal(t, uint64(1), c.nodes[sender].status("one").GivenUp)
				}
			})
		})
	}
}

// requirePutAside fails unless a node keeps that message alone, as the first.
func requirePutAside(t *testing.T, n *node, msg numbered) {
	t.Helper()
	all := singleton.ListGivenUp(n.System)
	require.Len(t, all, 1)
	require.Equal(t, "one", all[0].Singleton)
	require.Equal(t, uint64(1), all[0].Number)
	require.Equal(t, msg, all[0].Message)
	require.ErrorIs(t, all[0].Reason, singleton.ErrGivenUp)
	require.ErrorContains(t, all[0].Reason, "cannot handle zero")
	require.Equal(t, 1, n.status("one").PutAside)
	require.Zero(t, n.status("one").Unacknowledged)
}

func TestAMessageThatIsSentAgainWithoutAnyRepairIsGivenUpAgain(t *testing.T) {
	inCluster(t, []string{"a", "b"}, func(t *testing.T, c *cluster) {
		b := newBug()
		refs := onAll(c, b.plain, singleton.AtLeastOnce(20), singleton.Attempts(2))
		refs["b"].Tell(poison("b"))
		time.Sleep(time.Minute)
		require.Equal(t, 2, b.tried(poison("b")))
		system := c.nodes["b"].System
		require.NoError(t, singleton.Resend(system, 1))
		time.Sleep(time.Minute)
		require.Equal(t, 4, b.tried(poison("b")))
		require.Equal(t, uint64(2), singleton.ListGivenUp(system)[0].Number)
		require.NoError(t, singleton.Discard(system, 2))
		require.ErrorIs(t, singleton.Discard(system, 2), singleton.ErrNotKept)
		require.Empty(t, singleton.ListGivenUp(system))
		time.Sleep(time.Minute)
		require.Equal(t, 4, b.tried(poison("b")))
	})
}

func TestAnAskOfWhatIsGivenUpFailsWithTheLastFailure(t *testing.T) {
	inCluster(t, []string{"a", "b"}, func(t *testing.T, c *cluster) {
		refs := onAll(c, mortal, singleton.AtLeastOnce(5))
		for name, ref := range refs {
			_, err := actor.Ask(t.Context(), ref, func(to actor.ActorRef[string]) msg { return msg{"fail", to} })
			require.ErrorIs(t, err, singleton.ErrGivenUp)
			require.ErrorContains(t, err, "told to", "from %s", name)
			time.Sleep(time.Second)
			require.Len(t, singleton.ListGivenUp(c.nodes[name].System), 1)
		}
	})
}

// The first host fails at the message once, and then another one hosts.
func TestFailuresAreCountedAcrossHosts(t *testing.T) {
	for how, move := range map[string]func(c *cluster){
		"a crash": func(c *cluster) {
			a := c.nodes["a"]
			c.crash("a")
			c.removed(a)
		},
		"a move": func(c *cluster) { c.leave("a") },
	} {
		t.Run(how, func(t *testing.T) {
			inCluster(t, abc, func(t *testing.T, c *cluster) {
				b := newBug()
				// The second attempt comes after ten seconds.
				refs := onAll(c, b.plain, singleton.AtLeastOnce(20), singleton.RestartBackoff(actor.Backoff{Min: 10 * time.Second, Max: 10 * time.Second}))
				settle()
				senders := []string{"b", "c"} // one hosts next
				for _, s := range senders {
					refs[s].Tell(numbered{s, 1})
				}
				settle()
				refs["c"].Tell(poison("c"))
				settle()
				require.Equal(t, 1, b.tried(poison("c")))
				for _, s := range senders {
					refs[s].Tell(numbered{s, 2})
				}
				move(c)
				time.Sleep(time.Minute)
				require.Equal(t, 3, b.tried(poison("c")))
				b.book.requireAll(t, 2, senders...)
				requirePutAside(t, c.nodes["c"], poison("c"))
			})
		})
	}
}

func TestACrashOfTheHostIsNoFailedAttempt(t *testing.T) {
	inCluster(t, abc, func(t *testing.T, c *cluster) {
		book, slow := newLedger(), atomic.Bool{}
		slow.Store(true)
		refs := onAll(c, func() actor.Behavior[numbered] {
			return behaviors.Receive(func(ctx *actor.Context[numbered], m numbered) actor.Behavior[numbered] {
				if slow.Load() {
					<-ctx.Done()
					panic("stopped in the middle of it")
				}
				book.add(m)
				return behaviors.Same
			})
		}, singleton.AtLeastOnce(20), singleton.Attempts(1))
		settle()
		refs["c"].Tell(numbered{"c", 1})
		settle()
		a := c.nodes["a"]
		c.crash("a")
		c.removed(a)
		time.Sleep(20 * time.Second)
		c.startLeaving("b") // its handler fails as it is stopped
		time.Sleep(5 * time.Second)
		slow.Store(false)
		c.finishLeaving("b")
		time.Sleep(time.Minute)
		book.requireAll(t, 1, "c")
		require.Empty(t, singleton.ListGivenUp(c.nodes["c"].System))
	})
}

// unnamed is an event that cannot be stored, as its type is not registered.
type unnamed struct{}

func TestAMessageWhoseEventsAreRejectedIsGivenUpAtOnce(t *testing.T) {
	inCluster(t, []string{"a", "b"}, func(t *testing.T, c *cluster) {
		j, book := journal.NewMemory(), newLedger()
		tries := 0
		refs := onAll(c, func() actor.Behavior[numbered] {
			return behaviors.EventSourced("stored", j, 0, func(n int, _ any) int { return n + 1 },
				func(_ *actor.Context[numbered], _ int, m numbered) persistence.Effect[any] {
					if m.N == 0 {
						tries++
						return persistence.Persist[any](unnamed{})
					}
					book.add(m)
					return persistence.Persist[any](written{})
				})
		}, singleton.AtLeastOnce(20))
		settle()
		for _, n := range []int{1, 0, 2} {
			refs["b"].Tell(numbered{"b", n})
		}
		time.Sleep(time.Minute)
		require.Equal(t, 1, tries)
		book.requireAll(t, 2, "b")
		all := singleton.ListGivenUp(c.nodes["b"].System)
		require.Len(t, all, 1)
		require.ErrorIs(t, all[0].Reason, singleton.ErrGivenUp)
		require.ErrorContains(t, all[0].Reason, "rejected")
	})
}

// A full journal stores nothing while it is full.
type fullJournal struct {
	*journal.Memory
	full atomic.Bool
}

func (j *fullJournal) Append(ctx context.Context, reqs []journal.AppendRequest) []error {
	if !j.full.Load() {
		return j.Memory.Append(ctx, reqs)
	}
	errs := make([]error, len(reqs))
	for i := range errs {
		errs[i] = errors.Join(persistence.ErrFull)
	}
	return errs
}

func TestAJournalThatFailsMakesNoMessagePoisonous(t *testing.T) {
	inCluster(t, []string{"a", "b"}, func(t *testing.T, c *cluster) {
		j, b := &fullJournal{Memory: journal.NewMemory()}, newBug()
		refs := onAll(c, b.stored(j), singleton.AtLeastOnce(20))
		settle()
		j.full.Store(true)
		for n := range 10 {
			refs["b"].Tell(numbered{"b", n + 1})
		}
		time.Sleep(time.Hour)
		require.Greater(t, c.nodes["a"].status("one").Failures, uint64(3))
		require.Empty(t, singleton.ListGivenUp(c.nodes["b"].System))
		j.full.Store(false)
		time.Sleep(time.Hour)
		b.book.requireAtLeast(t, 10, "b")
		require.Zero(t, c.nodes["b"].status("one").Unacknowledged)
	})
}

func TestMessagesPutAsideEndWithTheManager(t *testing.T) {
	inCluster(t, nil, func(t *testing.T, c *cluster) {
		a := c.join("a")
		c.up(a)
		b := newBug()
		ref, stop := spawnBelow(a.System, behaviors.Singleton(b.plain, singleton.AtLeastOnce(1)))
		ref.Tell(poison("a"))
		time.Sleep(time.Minute)
		require.Len(t, singleton.ListGivenUp(a.System), 1)
		stop()
		settle()
		require.Empty(t, singleton.ListGivenUp(a.System))
		require.ErrorIs(t, singleton.Resend(a.System, 1), singleton.ErrNotKept)
	})
}
