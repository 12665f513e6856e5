package generationtest

import (
	"math"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/singleton/generation"
)

var claimLaws = []law{
	{"TheFirstTermIsOne", func(e *env) {
		require.Equal(e, gen(1, 0), e.open().term(e.label(), "a"))
	}},
	{"EachTermIsTheNextWhoeverClaimsIt", func(e *env) {
		s, label := e.open(), e.label()
		for i, owner := range []string{"a", "b", "b", "a", "c"} {
			require.Equal(e, gen(uint64(i)+1, 0), s.term(label, owner))
			require.Equal(e, owned(owner, uint64(i)+1, 0), s.owner(label))
		}
	}},
	{"ATermIsAboveTheFloorAndAllTermsBefore", func(e *env) {
		nodes, label := e.opens(2), e.label()
		for i, step := range []struct{ floor, want uint64 }{{3, 4}, {4, 5}, {2, 6}, {0, 7}, {99, 100}} {
			g, err := nodes[i%2].ClaimTerm(e.Context(), label, "a", step.floor)
			require.NoError(e, err)
			require.Equal(e, gen(step.want, 0), g)
			require.Equal(e, owned("a", step.want, 0), nodes[(i+1)%2].owner(label))
		}
		for _, floor := range []uint64{last, last + 1, math.MaxInt64, math.MaxUint64} {
			_, err := nodes[0].ClaimTerm(e.Context(), label, "b", floor)
			require.ErrorIs(e, err, generation.ErrOverflow)
		}
		require.Equal(e, owned("a", 100, 0), nodes[0].owner(label), "nothing has changed")
	}},
	{"NumbersGrowWithinATermAndBeginAnewWithTheNext", func(e *env) {
		s, label := e.open(), e.label()
		granted := []generation.Generation{
			s.term(label, "a"), s.seq(label), s.seq(label), s.term(label, "b"), s.seq(label), s.term(label, "b"), s.term(label, "a"),
		}
		require.Equal(e, []generation.Generation{gen(1, 0), gen(1, 1), gen(1, 2), gen(2, 0), gen(2, 1), gen(3, 0), gen(4, 0)}, granted)
		for i, g := range granted[1:] {
			before, err := granted[i].Packed()
			require.NoError(e, err)
			packed, err := g.Packed()
			require.NoError(e, err)
			require.Greater(e, packed, before, "the packed numbers have the same order")
		}
	}},
	{"ANumberKeepsTheOwner", func(e *env) {
		s, label := e.open(), e.label()
		s.term(label, "a")
		s.seq(label)
		require.Equal(e, owned("a", 1, 1), s.owner(label))
	}},
	{"ANumberWithoutATermIsRefused", func(e *env) {
		s, label := e.open(), e.label()
		s.neverClaimed(label)
		s.put(label, "a spec is no term")
		s.neverClaimed(label)
		require.Equal(e, gen(1, 0), s.term(label, "a"))
		require.Equal(e, gen(1, 1), s.seq(label))
	}},
	{"WhatNobodyHasClaimedHasNoOwner", func(e *env) {
		s, label := e.open(), e.label()
		s.ownerless(label)
		s.put(label, "spec")
		s.ownerless(label)
		require.Zero(e, s.list(label)[0].Ownership)
	}},
	{"LabelsAreIndependent", func(e *env) {
		s, begin := e.open(), e.label()
		for range 3 {
			s.term(begin+"-a", "a")
		}
		require.Equal(e, gen(1, 0), s.term(begin+"-b", "b"))
		s.forget(begin + "-b")
		require.Equal(e, owned("a", 3, 0), s.owner(begin+"-a"))
		require.Equal(e, gen(3, 1), s.seq(begin+"-a"))
	}},
	{"TheLastTermIsFollowedByAnError", func(e *env) {
		e.need(e.backend.Advance != nil, "Advance")
		label := e.label()
		e.backend.Advance(e.T, label, gen(last-1, 0))
		s := e.open()
		require.Equal(e, gen(last, 0), s.term(label, "a"))
		for range 2 {
			_, err := s.ClaimTerm(e.Context(), label, "b", 0)
			require.ErrorIs(e, err, generation.ErrOverflow)
		}
		require.Equal(e, owned("a", last, 0), s.owner(label), "nothing has changed")
		require.Equal(e, gen(last, 1), s.seq(label), "there are numbers left")
		s.forget(label)
		_, err := s.ClaimTerm(e.Context(), label, "b", 0)
		require.ErrorIs(e, err, generation.ErrOverflow, "forgetting does not begin anew")
	}},
	{"TheLastNumberIsFollowedByAnErrorAndTheNextTerm", func(e *env) {
		e.need(e.backend.Advance != nil, "Advance")
		label := e.label()
		e.backend.Advance(e.T, label, gen(7, last-1))
		s := e.open()
		require.Equal(e, gen(7, last), s.seq(label))
		for range 2 {
			_, err := s.ClaimSeq(e.Context(), label)
			require.ErrorIs(e, err, generation.ErrOverflow)
		}
		require.Equal(e, gen(7, last), s.owner(label).Generation, "nothing has changed")
		require.Equal(e, gen(8, 0), s.term(label, "a"))
	}},
}
