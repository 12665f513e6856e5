package placement

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/cluster/internal/home"
	"github.com/understudy-go/understudy/internal/effort"
	"github.com/understudy-go/understudy/internal/tenure"
	"github.com/understudy-go/understudy/singleton"
)

var fenceFirst = flag.Uint64("fence.first", 1, "the seed of the first sweep of fences")

// A fence is a store that keeps the highest generation it has seen, and the owner of each.
type fence struct {
	t       *testing.T
	seed    uint64
	highest singleton.Generation
	owners  map[singleton.Generation]string
	refused int
}

// write lets an instance write. Only the instance with the highest generation may.
func (f *fence) write(node string, g singleton.Generation) {
	f.t.Helper()
	packed, err := g.Packed()
	require.NoError(f.t, err)
	highest, err := f.highest.Packed()
	require.NoError(f.t, err)
	owner, known := f.owners[g]
	require.True(f.t, !known || owner == node, "seed %d: %v is that of %s and of %s", f.seed, g, owner, node)
	f.owners[g] = node
	if packed < highest {
		f.refused++
		return
	}
	f.highest = g
}

// A side has everything that the coordinator on one side of a split can reach.
type side struct {
	*singletonsRig
	names string
}

// Over many seeds, two sides of a partition that share a source start, move, stop and lose a
// singleton. One side has at most one instance. Its grants only grow. No two owners have the same
// generation. No instance writes to the store after one of a later generation. The side with the
// lower generation is fenced off, also after a crash.
func TestFencesHoldOverManySeeds(t *testing.T) {
	t.Parallel()
	refused, count := 0, effort.Count[uint64](10, 60, 600)
	for seed := *fenceFirst; seed < *fenceFirst+count; seed++ {
		refused += sweepFence(t, seed)
	}
	if count >= 60 {
		require.Greater(t, refused, 100, "the sweep must see zombies")
	}
}

func sweepFence(t *testing.T, seed uint64) (refused int) {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 172)) //nolint:gosec // a schedule, not a secret
	source := newFakeSource()
	store := &fence{t: t, seed: seed, owners: map[singleton.Generation]string{}}
	sides := []*side{{newSourceRig(t, source, "a:w", "b:w"), "ab"}, {newSourceRig(t, source, "c:w", "d:w"), "cd"}}
	for n := range 80 {
		s := sides[rng.IntN(2)]
		s.act(rng, n)
		s.pass(time.Duration(rng.IntN(3000)) * time.Millisecond)
		require.LessOrEqual(t, len(s.running("catalog")), 1, "seed %d", seed)
		for _, who := range rng.Perm(2) {
			sides[who].write(store)
		}
	}
	for _, s := range sides {
		s.requireGrowing(seed)
	}
	return store.refused
}

// act performs a random action.
func (s *side) act(rng *rand.Rand, n int) {
	name := string(s.names[rng.IntN(2)])
	switch rng.IntN(9) {
	case 0, 1:
		s.start("catalog", Role("w"))
	case 2:
		s.start("catalog", OnNode(name))
	case 3:
		s.move("catalog")
	case 4:
		s.stop("catalog")
	case 5:
		s.crash(name)
		s.join(uint64(n+100), name+":w") //nolint:gosec // it is small
	case 6:
		s.refuse = errStore
	case 7:
		s.refuse = nil
	case 8:
		s.boot()
	}
}

func (s *side) write(to *fence) {
	for id, runs := range s.agents {
		if x, ok := runs["catalog"]; ok {
			to.write(id.Name, x.Generation)
		}
	}
}

func (s *side) requireGrowing(seed uint64) {
	s.t.Helper()
	var last singleton.Generation
	for _, line := range s.started {
		var g singleton.Generation
		var on string
		_, err := fmt.Sscanf(line, "catalog %d.%d %s", &g.Term, &g.Seq, &on)
		require.NoError(s.t, err)
		require.True(s.t, last.Less(g), "seed %d: %v after %v", seed, g, last)
		last = g
	}
}

// Journals of each node's own number alike on both sides of a split: two owners have {1,0}, and no
// store can tell them apart. With such a journal the next coordinator knows of no singleton at all.
// So all nodes must share one.
func TestJournalsOfEachNodesOwnAreNoFence(t *testing.T) {
	t.Parallel()
	a, b := newSingletonsRig(t, "a"), newSingletonsRig(t, "b")
	require.Equal(t, singleton.Generation{Term: 1}, a.answered(a.start("catalog", Leader())).Generation)
	require.Equal(t, singleton.Generation{Term: 1}, b.answered(b.start("catalog", Leader())).Generation)
	require.Equal(t, []string{"a"}, a.running("catalog"))
	require.Equal(t, []string{"b"}, b.running("catalog"))

	r := newSingletonsRig(t, "a", "b")
	r.start("catalog", Leader())
	delete(r.agents, home.IDOf(r.nodes["a"]))
	delete(r.nodes, "a")
	r.singles = map[string]home.Record{} // the journal of the other node
	r.boot()
	r.pass(30 * time.Second)
	r.none("catalog")
}

// With a shared journal the next coordinator has it on its node, at term 2.
func TestASharedJournalBringsASingletonBack(t *testing.T) {
	t.Parallel()
	r := newSingletonsRig(t, "a", "b")
	r.start("catalog", Leader())
	delete(r.agents, home.IDOf(r.nodes["a"]))
	delete(r.nodes, "a")
	r.boot()
	r.is("catalog", SingletonActive, "b", 2, 0)
	require.Equal(t, []string{"b"}, r.running("catalog"))
}

// The zero generation belongs to no instance, and packs to zero. The last generation that fits
// packs to the greatest number.
func TestTheLimitsOfAGenerationFitIntoItsNumber(t *testing.T) {
	packed, err := singleton.Generation{}.Packed()
	require.NoError(t, err)
	require.Zero(t, packed)
	require.Zero(t, tenure.Unpack(0))

	for _, g := range []singleton.Generation{{Term: 1}, {Seq: math.MaxUint32}, {Term: math.MaxUint32}, {Term: math.MaxUint32, Seq: math.MaxUint32}} {
		next, err := g.Packed()
		require.NoError(t, err)
		require.Equal(t, g, singleton.Generation(tenure.Unpack(next)))
	}
	packed, err = singleton.Generation{Term: math.MaxUint32, Seq: math.MaxUint32}.Packed()
	require.NoError(t, err)
	require.Equal(t, uint64(math.MaxUint64), packed)
	end, err := singleton.Generation{Term: 1, Seq: math.MaxUint32}.Packed()
	require.NoError(t, err)
	begin, err := singleton.Generation{Term: 2}.Packed()
	require.NoError(t, err)
	require.Equal(t, end+1, begin, "no number lies between two terms")
}

// A failover begins a term at number zero, however many numbers the former owner was granted. After
// a stop and a start the term is above all of those.
func TestNumbersBeginAnewWithEachTermAndTermsNever(t *testing.T) {
	t.Parallel()
	r := newSingletonsRig(t, "a", "b")
	for range 5 {
		r.answered(r.start("catalog", Leader()))
	}
	r.is("catalog", SingletonActive, "a", 1, 4)
	r.crash("a")
	r.is("catalog", SingletonActive, "b", 2, 0)
	require.NoError(t, r.answers[r.stop("catalog")].Err)
	r.none("catalog")
	require.Equal(t, singleton.Generation{Term: 3}, r.answered(r.start("catalog", Leader())).Generation)
}
