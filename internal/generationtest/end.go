package generationtest

import (
	"context"
	"sync"
	"time"

	"github.com/stretchr/testify/require"
)

// An operation whose context has ended returns within that, on a busy machine.
const soon = 10 * time.Second

var endLaws = []law{
	{"WhatIsCancelledBeforehandFailsAndChangesNothing", func(e *env) {
		s, label := e.open(), e.label()
		s.put(label, "spec")
		s.term(label, "a")
		ctx, cancel := context.WithCancel(e.Context())
		cancel()
		for name, do := range map[string]func() error{
			"ClaimTerm": func() error { _, err := s.ClaimTerm(ctx, label, "b", 0); return err },
			"ClaimSeq":  func() error { _, err := s.ClaimSeq(ctx, label); return err },
			"Current":   func() error { _, _, err := s.Current(ctx, label); return err },
			"PutSpec":   func() error { return s.PutSpec(ctx, label, nil) },
			"List":      func() error { _, err := s.List(ctx); return err },
			"Forget":    func() error { return s.Forget(ctx, label) },
		} {
			began := time.Now()
			require.ErrorIs(e, do(), context.Canceled, name)
			require.Less(e, time.Since(began), soon, name)
		}
		require.Equal(e, owned("a", 1, 0), s.owner(label))
		require.Equal(e, map[string]string{label: "spec"}, s.kept(label))
	}},
	{"ClaimsThatAreCancelledMeanwhileLeaveNumbersOutAtMost", func(e *env) {
		nodes, label := e.opens(3), e.label()
		random := e.random()
		const each = 40
		patience := make([]time.Duration, 2*len(nodes)*each)
		for i := range patience {
			patience[i] = time.Duration(random.Int64N(int64(3 * time.Millisecond)))
		}
		got := make([][]uint64, 2*len(nodes))
		var all sync.WaitGroup
		for i := range got {
			s := nodes[i%len(nodes)]
			all.Go(func() {
				for n := range each {
					ctx, cancel := context.WithTimeout(e.Context(), patience[i*each+n])
					if g, err := s.ClaimTerm(ctx, label, "a", 0); err == nil {
						got[i] = append(got[i], g.Term)
					}
					cancel()
				}
			})
		}
		all.Wait()
		seen, highest := map[uint64]bool{}, uint64(0)
		for _, terms := range got {
			before := uint64(0)
			for _, term := range terms {
				require.Greater(e, term, before, "a later claim gets a higher term")
				require.False(e, seen[term], "term %d came twice", term)
				seen[term], before, highest = true, term, max(highest, term)
			}
		}
		e.Logf("%d of %d claims were granted, up to term %d", len(seen), len(patience), highest)
		next := nodes[0].term(label, "b").Term
		require.Greater(e, next, highest)
		require.LessOrEqual(e, next, uint64(len(patience))+1)
	}},
	{"ARestartLosesNothing", func(e *env) {
		e.need(e.backend.Restart != nil, "Restart")
		s, label := e.open(), e.label()
		s.put(label, "spec")
		s.term(label, "a")
		s.seq(label)
		e.backend.Restart(e.T)
		s = e.open()
		require.Equal(e, owned("a", 1, 1), s.owner(label))
		require.Equal(e, map[string]string{label: "spec"}, s.kept(label))
		require.Equal(e, gen(1, 2), s.seq(label))
		require.Equal(e, gen(2, 0), s.term(label, "b"))
	}},
}
