//go:build !quick

package placement

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/cluster/internal/home"
	"github.com/understudy-go/understudy/internal/codec"
	"github.com/understudy-go/understudy/persistence"
	"github.com/understudy-go/understudy/persistence/journal"
	"github.com/understudy-go/understudy/singleton"
	"github.com/understudy-go/understudy/testkit"
)

func TestASingletonIsNotStoppedByAnEarlierGeneration(t *testing.T) {
	inAgentWorld(t, func(t *testing.T, w *agentWorld) {
		data, err := codec.Marshal(job{})
		require.NoError(t, err)
		gen := singleton.Generation{Term: 2}
		w.tell(home.StartRequest{ID: id(1), Label: "s", Type: workers.Name(), State: data, Generation: gen, Epoch: 1})
		w.started("s", 1)
		require.Equal(t, gen, w.ask("s").Generation)
		w.tell(home.StopRequest{ID: id(1), Label: "s", Generation: singleton.Generation{Term: 1, Seq: 9}, Epoch: 1})
		require.Contains(t, w.receive().StopAck.Error, "2.0")
		require.Equal(t, gen, w.ask("s").Generation)
		w.tell(home.StopRequest{ID: id(1), Label: "s", Generation: gen, Epoch: 1})
		w.stopped("s", 1)
	})
}

// A fencedStore refuses writes of a generation lower than the highest it has seen.
type fencedStore struct {
	mu      sync.Mutex // guards all below
	highest singleton.Generation
	writes  []singleton.Generation
}

func (s *fencedStore) write(gen singleton.Generation) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if gen.Less(s.highest) {
		return singleton.ErrFenced
	}
	s.highest = gen
	s.writes = append(s.writes, gen)
	return nil
}

// shelf has the objects that the actors share with their test, by a number in their state.
var (
	shelf   sync.Map
	shelved atomic.Uint64
)

func share(what any) (state []byte) {
	n := shelved.Add(1)
	shelf.Store(n, what)
	state, _ = codec.Marshal(n) // numbers can be encoded
	return state
}

func shared[T any](n uint64) T {
	what, _ := shelf.Load(n)
	return what.(T)
}

var writers = NewType[uint64, actor.ActorRef[bool]]("agent-test-writer")

func newWriter(n uint64) actor.Behavior[actor.ActorRef[bool]] {
	store := shared[*fencedStore](n)
	return behaviors.Receive(func(ctx *actor.Context[actor.ActorRef[bool]], replyTo actor.ActorRef[bool]) actor.Behavior[actor.ActorRef[bool]] {
		err := store.write(singleton.GenerationOf(ctx))
		replyTo.Tell(err == nil)
		if err != nil {
			return ctx.Fail(err)
		}
		return nil
	})
}

func TestAFencedStoreRefusesAZombie(t *testing.T) {
	inAgentWorld(t, func(t *testing.T, w *agentWorld) {
		write := func(label string) bool {
			return testkit.Ask(t.Context(), t, writers.Ref(w.system, label), func(r actor.ActorRef[bool]) actor.ActorRef[bool] { return r })
		}
		owner, store := singleton.Generation{Term: 2}, &fencedStore{}
		state := share(store)
		for n, gen := range []singleton.Generation{owner, {Term: 1, Seq: 9}} {
			w.tell(home.StartRequest{ID: id(uint64(n + 1)), Label: fmt.Sprint(n), Type: writers.Name(), State: state, Generation: gen, Epoch: 1})
			w.started(fmt.Sprint(n), uint64(n+1))
		}
		require.True(t, write("0"))
		require.False(t, write("1"), "the zombie")
		require.Equal(t, &home.Ended{ID: id(2), Label: "1", Error: singleton.ErrFenced.Error()}, w.receive().Ended)
		require.True(t, write("0"))
		require.NoError(t, store.write(singleton.Generation{Term: 2, Seq: 1}))
		require.Equal(t, []singleton.Generation{owner, owner, {Term: 2, Seq: 1}}, store.writes)
	})
}

var ledgers = NewType[uint64, int]("agent-test-ledger")

func newLedger(n uint64) actor.Behavior[int] {
	return persistence.New("ledger", shared[persistence.Journal](n), 0, func(sum, n int) int { return sum + n },
		func(_ *actor.Context[int], _, n int) persistence.Effect[int] { return persistence.Persist(n) })
}

func TestAnEventSourcedSingletonClaimsItsJournalByItsGeneration(t *testing.T) {
	inAgentWorld(t, func(t *testing.T, w *agentWorld) {
		gen, store := singleton.Generation{Term: 7, Seq: 3}, journal.NewMemory()
		w.tell(home.StartRequest{ID: id(1), Label: "ledger", Type: ledgers.Name(), State: share(persistence.Journal(store)), Generation: gen, Epoch: 1})
		w.started("ledger", 1)
		synctest.Wait()
		packed, err := gen.Packed()
		require.NoError(t, err)
		next, err := store.Claim(t.Context(), "ledger", journal.WriterID{}, journal.Bounds{})
		require.NoError(t, err)
		require.Greater(t, next.Epoch, packed)
	})
}

var shops = NewType[uint64, int]("agent-test-shop")

// newShop returns an actor whose child is event-sourced.
func newShop(n uint64) actor.Behavior[int] {
	return behaviors.Setup(func(ctx *actor.Context[int]) actor.Behavior[int] {
		child := actor.Spawn(ctx, newLedger(n), "ledger")
		return behaviors.Receive(func(_ *actor.Context[int], msg int) actor.Behavior[int] {
			child.Tell(msg)
			return behaviors.Same
		})
	})
}

// The actor itself has no journal. It cannot work without its child, and a restart of the child
// would be refused as well.
func TestASingletonEndsWhenTheJournalOfItsChildHasALaterTerm(t *testing.T) {
	inAgentWorld(t, func(t *testing.T, w *agentWorld) {
		store := journal.NewMemory()
		_, err := store.Claim(t.Context(), "ledger", journal.WriterID{}, journal.Bounds{Least: 9 << 32})
		require.NoError(t, err)
		w.tell(home.StartRequest{ID: id(1), Label: "shop", Type: shops.Name(), State: share(persistence.Journal(store)), Generation: singleton.Generation{Term: 7}, Epoch: 1})
		w.started("shop", 1)
		ended := w.receive().Ended
		require.Contains(t, ended.Error, `"ledger" of understudy://test/system/placement/shop/ledger belongs to term 9`)
		require.Equal(t, uint64(9), ended.FencedBy)
	})
}

func TestASingletonWhoseJournalHasALaterTermSaysWhichOne(t *testing.T) {
	inAgentWorld(t, func(t *testing.T, w *agentWorld) {
		store := journal.NewMemory()
		_, err := store.Claim(t.Context(), "ledger", journal.WriterID{}, journal.Bounds{Least: 9 << 32})
		require.NoError(t, err)
		w.tell(home.StartRequest{ID: id(1), Label: "ledger", Type: ledgers.Name(), State: share(persistence.Journal(store)), Generation: singleton.Generation{Term: 7}, Epoch: 1})
		ack := w.receive().StartAck
		require.Contains(t, ack.Error, "fenced")
		require.Equal(t, uint64(9), ack.FencedBy)
	})
}
