package projection_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/extension"
	pages "github.com/understudy-go/understudy/internal/status"
	"github.com/understudy-go/understudy/persistence/journal"
	"github.com/understudy-go/understudy/persistence/projection"
	"github.com/understudy-go/understudy/testkit"
)

// A brittle is an event that only some programs can decode.
type brittle struct{ n byte }

func (brittle) event() {}

func (b brittle) MarshalCBOR() ([]byte, error) { return []byte{b.n}, nil }

func (b *brittle) UnmarshalCBOR(data []byte) error {
	b.n = data[0]
	switch decoder.Load() {
	case refuses:
		return errors.New("this program is too old")
	case panics:
		panic("this program is broken")
	}
	return nil
}

const (
	decodes int32 = iota
	refuses
	panics
)

var decoder atomic.Int32 // what brittle's does

func init() { actor.RegisterType[brittle]("projection_test.brittle") }

func decoderIs(t *testing.T, what int32) {
	t.Helper()
	decoder.Store(what)
	t.Cleanup(func() { decoder.Store(decodes) })
}

func TestAnEventThatCannotBeDecodedHoldsBackItsOwnIDOnly(t *testing.T) {
	for says, what := range map[string]int32{"too old": refuses, "broken": panics} {
		t.Run(says, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				j, s, offsets := journal.NewMemory(), newSum(), &projection.MemoryOffsets{}
				a, b := newWriter(t, j, "a"), newWriter(t, j, "b")
				a.append(added{1})
				decoderIs(t, decodes)
				a.append(brittle{1})
				b.append(added{1})
				a.append(added{2})
				decoderIs(t, what)
				core, log := observer.New(zap.WarnLevel)
				sys := testkit.NewSystem(t, actor.WithLogger(zap.New(core)))
				p := projection.New("sum", j, journal.Query{}, projection.AtLeastOnce(offsets, s.handle))
				ctx, stop := context.WithCancel(t.Context())
				ref := actor.Spawn(sys, p.Behavior(), "sum", extension.WithContext(ctx))
				catchUp(t, ref)
				b.append(added{2})
				got := catchUp(t, ref)
				require.Equal(t, []string{"a/1", "b/1", "b/2"}, s.handled())
				require.Len(t, got.Workers[0].Held, 1)
				held := got.Workers[0].Held[0]
				require.Contains(t, held.Failure, says)
				require.Contains(t, held.Failure, "SkipAfter", "what helps")
				require.NotContains(t, held.Failure, "SkipOthers", "what does not")
				held.Failure = ""
				require.Equal(t, projection.HeldID{ID: "a", From: 2, Last: 3}, held)
				require.Contains(t, got.Failing(), says)
				require.Zero(t, got.Workers[0].Failures)
				require.Equal(t, 1, log.Len())
				require.Equal(t, "a", log.All()[0].ContextMap()["id"])

				stop()
				testkit.NewProbe[int](t, sys).ExpectTerminated(ref)
				decoder.Store(decodes) // a program that can decode it
				ref = actor.Spawn(sys, p.Behavior(), "sum")
				catchUp(t, ref)
				a.append(added{3})
				got = catchUp(t, ref)
				require.Equal(t, []string{"a/1", "b/1", "b/2", "a/2", "a/3", "a/4"}, s.handled())
				require.Empty(t, got.Workers[0].Held)
				require.Empty(t, got.Failing())
			})
		})
	}
}

// retry does what the command of an operator does.
func retry(t *testing.T, sys *actor.System, name string) *pages.Retried {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	return pages.Retry(ctx, sys, name)
}

func TestWhatIsHeldBackIsTriedAgainByCommandInOrderAndOnce(t *testing.T) {
	for _, workers := range []int{1, 4} {
		t.Run(fmt.Sprint(workers, " workers"), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				j, s, offsets := journal.NewMemory(), newSum(), &projection.MemoryOffsets{}
				a, b := newWriter(t, j, "a"), newWriter(t, j, "b")
				a.append(added{1}, brittle{1}, added{2})
				b.append(brittle{1})
				decoderIs(t, refuses)
				sys := testkit.NewSystem(t)
				require.Nil(t, retry(t, sys, "sum"), "nothing runs")
				ref := actor.Spawn(sys, projection.New("sum", j, journal.Query{}, projection.AtLeastOnce(offsets, s.handle), projection.Workers(workers)).Behavior(), "sum")
				catchUp(t, ref)
				require.Nil(t, retry(t, sys, "another"))
				require.Equal(t, &pages.Retried{Done: true, Held: 2}, retry(t, sys, "sum"))
				details, _ := pages.Read(sys)
				shown, err := json.Marshal(details["projections"])
				require.NoError(t, err)
				require.Contains(t, string(shown), `"heldIDs":[{"id":"a","from":2,"last":3,"failure":"`)
				require.Equal(t, []string{"a/1"}, s.handled())

				decoder.Store(decodes)
				time.Sleep(time.Hour)
				require.Equal(t, []string{"a/1"}, s.handled(), "nobody has asked for it")
				require.Equal(t, &pages.Retried{Done: true}, retry(t, sys, "sum"))
				require.Equal(t, &pages.Retried{Done: true}, retry(t, sys, "sum"), "nothing is left")
				a.append(added{3})
				b.append(added{4})
				require.Empty(t, catchUp(t, ref).Failing())
				require.ElementsMatch(t, []string{"a/1", "a/2", "a/3", "a/4", "b/1", "b/2"}, s.handled())
				require.Equal(t, map[string]int{"a": 6, "b": 4}, s.byID)
			})
		})
	}
}

func TestARetryOfAProjectionThatFailsGoesOnAfterItsAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j, s := journal.NewMemory(), newSum()
		newWriter(t, j, "a").append(brittle{1}, poisoned{}, added{2})
		decoderIs(t, refuses)
		sys := testkit.NewSystem(t, actor.WithLogger(zap.NewNop()))
		ref := actor.Spawn(sys, projection.New("sum", j, journal.Query{}, projection.AtLeastOnce(&projection.MemoryOffsets{}, s.handle)).Behavior(), "sum")
		catchUp(t, ref)
		s.failWith(poison)
		decoder.Store(decodes)
		require.Equal(t, &pages.Retried{Held: 1}, retry(t, sys, "sum"))
		s.failWith(nil)
		catchUp(t, ref)
		require.Equal(t, []string{"a/1", "a/2", "a/3"}, s.handled())
		require.Equal(t, &pages.Retried{Done: true}, retry(t, sys, "sum"))
	})
}

func TestAnEventThatHoldsBackItsIDMayBeSkipped(t *testing.T) {
	j, s, offsets := journal.NewMemory(), newSum(), &projection.MemoryOffsets{}
	newWriter(t, j, "a").append(added{1}, brittle{1}, added{2}, nil, foreign{}, added{3})
	newWriter(t, j, "b").append(added{1})
	decoderIs(t, refuses)
	run := func(opts ...projection.Option) error {
		_, err := projection.New("sum", j, journal.Query{}, projection.AtLeastOnce(offsets, s.handle), opts...).CatchUp(t.Context())
		return err
	}
	var failed *projection.EventError
	require.ErrorAs(t, run(), &failed)
	require.Equal(t, "a", failed.ID)
	require.EqualValues(t, 2, failed.Seq)
	require.Equal(t, []string{"a/1", "b/1"}, s.handled())
	require.ErrorAs(t, run(projection.SkipOthers()), &failed, "it is none of others")
	require.EqualValues(t, 2, failed.Seq)
	decoder.Store(decodes)
	require.ErrorAs(t, run(), &failed)
	require.EqualValues(t, 4, failed.Seq, "the next that cannot be decoded")
	require.ErrorContains(t, failed, "SkipOthers")
	require.Equal(t, []string{"a/1", "b/1", "a/2", "a/3"}, s.handled())
	require.NoError(t, run(projection.SkipAfter(3)))
	require.NoError(t, run())
	require.Equal(t, []string{"a/1", "b/1", "a/2", "a/3", "a/6"}, s.handled())
}

func TestAListOfHeldIDsThatThisProgramDoesNotKnowStopsTheProjection(t *testing.T) {
	for list, says := range map[journal.Offset]string{
		`{"v":2,"ids":{"a":[2,3]}}`: "the list has version 2, this program knows 1; use a newer build of the program",
		`[{"id":"a"}]`:              "is no such list",
		`{"ids":[]}`:                "it has no version",
		`{"v":1,"ids":{}}`:          "is no such list",
	} {
		j, s, offsets := journal.NewMemory(), newSum(), &projection.MemoryOffsets{}
		newWriter(t, j, "a").append(added{1}, added{2})
		require.NoError(t, offsets.Save(t.Context(), "sum", "", "memory:1"))
		require.NoError(t, offsets.Save(t.Context(), "sum/held", "", list))
		_, err := projection.New("sum", j, journal.Query{}, projection.AtLeastOnce(offsets, s.handle)).CatchUp(t.Context())
		require.ErrorContains(t, err, says)
		require.ErrorContains(t, err, `projection "sum"`)
		require.ErrorContains(t, err, `"sum/held"`)
		require.Empty(t, s.handled())
	}
}

// atomically is a handler that handles all events of a batch or none, and fails now and then. Its
// read model changes together with its offsets, as with InTx.
type atomically struct {
	mu      sync.Mutex
	chance  *rand.Rand
	offsets projection.MemoryOffsets
	order   map[string][]uint64
}

var errChance = errors.New("the database has failed")

func (a *atomically) fails() bool { return a.chance != nil && a.chance.IntN(3) == 0 }

func (a *atomically) Load(ctx context.Context, name string) (journal.Offset, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.fails() {
		return "", errChance
	}
	return a.offsets.Load(ctx, name)
}

func (a *atomically) Save(ctx context.Context, name string, after, to journal.Offset) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.fails() {
		return errChance
	}
	err := a.offsets.Save(ctx, name, after, to)
	if a.fails() {
		return errChance // and the answer is lost
	}
	return err
}

func (a *atomically) Handle(ctx context.Context, b projection.Batch[event]) (journal.Offset, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.fails() {
		return b.After, errChance
	}
	if err := a.offsets.Save(ctx, b.Name, b.After, b.To); err != nil {
		return b.After, err
	}
	for _, e := range b.Events {
		a.order[e.ID] = append(a.order[e.ID], e.Seq)
	}
	if a.fails() {
		return b.After, errChance
	}
	return b.To, nil
}

// The law of held events: however often the database fails, in the end each event has been handled
// once, and the events of an id in order.
func TestWhatIsHeldBackIsHandledOnceAndInOrderWhateverFails(t *testing.T) {
	for range 1000 {
		seed := rand.Uint64()
		chance := rand.New(rand.NewPCG(seed, 1))
		j := journal.NewMemory()
		h := &atomically{chance: chance, order: map[string][]uint64{}}
		writers := map[string]*writer{}
		for i := range 4 {
			writers[fmt.Sprint(i)] = newWriter(t, j, fmt.Sprint(i))
		}
		decoderIs(t, decodes)
		write := func() {
			decoder.Store(decodes) // the program that writes can
			for range 1 + chance.IntN(10) {
				var e event = added{1}
				if chance.IntN(6) == 0 {
					e = brittle{1}
				}
				writers[fmt.Sprint(chance.IntN(4))].append(e)
			}
		}
		catchUp := func(ok bool) {
			for {
				_, err := projection.New("sum", j, journal.Query{}, h, projection.InBatches(1+chance.IntN(5), time.Minute)).CatchUp(t.Context())
				var undecodable *projection.EventError
				if err == nil || !ok && errors.As(err, &undecodable) || !ok && chance.IntN(2) == 0 {
					return
				}
			}
		}
		for range 4 {
			write()
			decoder.Store(refuses)
			catchUp(false)
			if chance.IntN(2) == 0 {
				decoder.Store(decodes)
				catchUp(false)
			}
		}
		decoder.Store(decodes)
		catchUp(true)
		for id, w := range writers {
			var want []uint64
			for seq := range w.claim.LastSeq {
				want = append(want, seq+1)
			}
			require.Equal(t, want, h.order[id], "id %s, seed %d", id, seed)
		}
	}
}
