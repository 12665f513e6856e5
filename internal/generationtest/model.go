package generationtest

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/singleton/generation"
)

var modelLaws = []law{
	{"AnyOperationsDoWhatTheModelDoes", func(e *env) {
		nodes, begin, random := e.opens(3), e.label(), e.random()
		m := model{}
		for step := range 600 {
			s, label := nodes[random.IntN(len(nodes))], fmt.Sprint(begin, "-", random.IntN(5))
			k := m.of(label)
			switch random.IntN(12) {
			case 0, 1, 2:
				k.claimTerm(fmt.Sprint("node ", step))
				require.Equal(e, k.Generation, s.term(label, k.Owner), "step %d", step)
			case 3, 4:
				if !k.owned {
					s.neverClaimed(label)
					continue
				}
				k.Generation.Seq++
				require.Equal(e, k.Generation, s.seq(label), "step %d", step)
			case 5, 6:
				k.kept, k.spec = true, fmt.Append(nil, "spec ", step)
				s.put(label, string(k.spec))
			case 7:
				k.forget()
				s.forget(label)
			case 8, 9, 10:
				m.sameOwner(s, label)
			default:
				require.Equal(e, m.list(), s.list(begin), "step %d", step)
			}
		}
		later := e.open()
		require.Equal(e, m.list(), later.list(begin))
		for label := range m {
			m.sameOwner(later, label)
		}
	}},
	{"NoGenerationIsGrantedTwiceWhateverHappensAtOnce", func(e *env) {
		nodes, begin, random := e.opens(3), e.label(), e.random()
		const workers, steps, labels = 6, 40, 2
		choices := make([]int, workers*steps)
		for i := range choices {
			choices[i] = random.IntN(10 * labels)
		}
		grants := make([][labels][]generation.Generation, workers)
		var all sync.WaitGroup
		for w := range workers {
			s := nodes[w%len(nodes)]
			all.Go(func() {
				for _, choice := range choices[w*steps : (w+1)*steps] {
					i := choice % labels
					label := fmt.Sprint(begin, "-", i)
					g, err := oneOf(s, label, choice/labels)
					if err == nil && g != (generation.Generation{}) {
						grants[w][i] = append(grants[w][i], g)
					} else if err != nil {
						e.Errorf("worker %d: %v", w, err)
					}
				}
			})
		}
		all.Wait()
		for i := range labels {
			seen := map[generation.Generation]bool{}
			for w := range workers {
				require.True(e, slices.IsSortedFunc(grants[w][i], ascending), "worker %d: %v", w, grants[w][i])
				for _, g := range grants[w][i] {
					require.False(e, seen[g], "%v came twice", g)
					seen[g] = true
				}
			}
			next := nodes[0].term(fmt.Sprint(begin, "-", i), "z")
			for g := range seen {
				require.True(e, g.Less(next), "%v after %v", next, g)
			}
		}
	}},
}

func oneOf(s *source, label string, which int) (generation.Generation, error) {
	ctx := s.e.Context()
	switch {
	case which < 4:
		return s.ClaimTerm(ctx, label, "a", 0)
	case which < 8:
		g, err := s.ClaimSeq(ctx, label)
		if errors.Is(err, generation.ErrNeverClaimed) {
			return generation.Generation{}, nil
		}
		return g, err
	case which == 8:
		return generation.Generation{}, s.PutSpec(ctx, label, []byte(label))
	}
	return generation.Generation{}, s.Forget(ctx, label)
}

func ascending(a, b generation.Generation) int {
	switch {
	case a.Less(b):
		return -1
	case b.Less(a):
		return 1
	}
	return 0
}

type model map[string]*known

type known struct {
	generation.Ownership
	spec        []byte
	owned, kept bool
	highest     uint64
}

func (m model) of(label string) *known {
	if m[label] == nil {
		m[label] = &known{}
	}
	return m[label]
}

func (k *known) claimTerm(owner string) {
	k.highest++
	k.owned, k.Ownership = true, generation.Ownership{Owner: owner, Generation: gen(k.highest, 0)}
}

func (k *known) forget() {
	k.owned, k.kept, k.Ownership = false, false, generation.Ownership{}
}

func (m model) sameOwner(s *source, label string) {
	s.e.Helper()
	if k := m.of(label); k.owned {
		require.Equal(s.e, k.Ownership, s.owner(label))
		return
	}
	s.ownerless(label)
}

func (m model) list() (records []generation.Record) {
	for _, label := range slices.Sorted(maps.Keys(m)) {
		if k := m[label]; k.kept {
			records = append(records, generation.Record{Label: label, Spec: k.spec, Ownership: k.Ownership})
		}
	}
	return records
}
