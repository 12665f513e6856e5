package generationtest

import (
	"fmt"
	"slices"
	"sync"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/singleton/generation"
)

var nodeLaws = []law{
	{"WhatOneNodeHasDoneTheOthersSee", func(e *env) {
		nodes, label := e.opens(3), e.label()
		for i := range 12 {
			doer := nodes[i%3]
			var want generation.Ownership
			spec := fmt.Sprint("spec ", i)
			switch i % 4 {
			case 3:
				doer.seq(label)
				want = owned(fmt.Sprint("node ", i-1), uint64(i-i/4), 1)
			default:
				doer.term(label, fmt.Sprint("node ", i))
				want = owned(fmt.Sprint("node ", i), uint64(i-i/4)+1, 0)
			}
			doer.put(label, spec)
			for _, n := range nodes {
				require.Equal(e, want, n.owner(label))
				require.Equal(e, []generation.Record{{Label: label, Spec: []byte(spec), Ownership: want}}, n.list(label))
			}
		}
		nodes[1].forget(label)
		for _, n := range nodes {
			n.ownerless(label)
			require.Empty(e, n.list(label))
			n.neverClaimed(label)
		}
	}},
	{"ANodeThatComesLaterKnowsAllThatWasThere", func(e *env) {
		begin := e.label()
		first := e.open()
		want := map[string]string{}
		for i := range 40 {
			label := fmt.Sprintf("%s-%02d", begin, i)
			for range i%3 + 1 {
				first.term(label, "a")
			}
			first.put(label, label)
			want[label] = label
			if i%5 == 0 {
				first.forget(label)
				delete(want, label)
			}
		}
		if e.backend.Restart != nil {
			e.backend.Restart(e.T)
		}
		later := e.open()
		require.Equal(e, want, later.kept(begin))
		for i := range 40 {
			require.EqualValues(e, i%3+2, later.term(fmt.Sprintf("%s-%02d", begin, i), "b").Term)
		}
	}},
	{"AHundredClaimsAtOnceAreTheTermsOneToAHundred", func(e *env) {
		s, label := e.open(), e.label()
		require.Equal(e, numbers(1, 100), e.terms(label, slices.Repeat([]*source{s}, 100)))
		require.EqualValues(e, 100, s.owner(label).Generation.Term)
	}},
	{"AHundredClaimsFromFiveNodesAreTheTermsOneToAHundred", func(e *env) {
		nodes, label := e.opens(5), e.label()
		require.Equal(e, numbers(1, 100), e.terms(label, slices.Repeat(nodes, 20)))
		for _, n := range nodes {
			require.EqualValues(e, 100, n.owner(label).Generation.Term)
		}
	}},
	{"AHundredNumbersAtOnceAreOneToAHundred", func(e *env) {
		nodes, label := e.opens(4), e.label()
		nodes[0].term(label, "a")
		require.Equal(e, numbers(1, 100), e.atOnce(slices.Repeat(nodes, 25), func(s *source, _ int) (uint64, error) {
			g, err := s.ClaimSeq(e.Context(), label)
			return g.Seq, err
		}))
	}},
	{"TheOwnerIsWhoGotTheHighestTerm", func(e *env) {
		nodes, label := e.opens(4), e.label()
		owners := make([]string, 41) // by term
		e.atOnce(slices.Repeat(nodes, 10), func(s *source, i int) (uint64, error) {
			g, err := s.ClaimTerm(e.Context(), label, fmt.Sprint("node ", i), 0)
			if err == nil {
				owners[g.Term] = fmt.Sprint("node ", i) // each term is somebody's own
			}
			return g.Term, err
		})
		require.Equal(e, owned(owners[40], 40, 0), nodes[0].owner(label))
	}},
	{"ManyLabelsAtOnce", func(e *env) {
		nodes, begin := e.opens(3), e.label()
		e.atOnce(slices.Repeat(nodes, 20), func(s *source, i int) (uint64, error) {
			label := fmt.Sprint(begin, "-", i)
			if err := s.PutSpec(e.Context(), label, []byte(label)); err != nil {
				return 0, err
			}
			g, err := s.ClaimTerm(e.Context(), label, label, 0)
			return g.Term, err
		})
		records := nodes[2].list(begin)
		require.Len(e, records, 60)
		for _, r := range records {
			require.Equal(e, r.Label, string(r.Spec))
			require.Equal(e, owned(r.Label, 1, 0), r.Ownership)
		}
	}},
}

// The terms are sorted.
func (e *env) terms(label string, sources []*source) []uint64 {
	e.Helper()
	return e.atOnce(sources, func(s *source, i int) (uint64, error) {
		g, err := s.ClaimTerm(e.Context(), label, fmt.Sprint("node ", i), 0)
		return g.Term, err
	})
}

// The numbers are sorted.
func (e *env) atOnce(sources []*source, do func(s *source, i int) (uint64, error)) []uint64 {
	e.Helper()
	got, errs := make([]uint64, len(sources)), make([]error, len(sources))
	var all sync.WaitGroup
	for i, s := range sources {
		all.Go(func() { got[i], errs[i] = do(s, i) })
	}
	all.Wait()
	for _, err := range errs {
		require.NoError(e, err)
	}
	slices.Sort(got)
	return got
}

func numbers(from, to uint64) []uint64 {
	var all []uint64
	for n := from; n <= to; n++ {
		all = append(all, n)
	}
	return all
}
