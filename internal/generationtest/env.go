package generationtest

import (
	"crypto/rand"
	"math"
	mathrand "math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/singleton/generation"
)

const last = math.MaxUint32

type env struct {
	*testing.T
	backend Backend
}

func (e *env) need(present bool, hook string) {
	if !present {
		e.Skipf("Backend.%s is not set", hook)
	}
}

func (e *env) open() *source { return &source{e, e.backend.Open(e.T)} }

func (e *env) opens(n int) []*source {
	sources := make([]*source, n)
	for i := range sources {
		sources[i] = e.open()
	}
	return sources
}

func (e *env) label() string { return "label-" + rand.Text()[:12] }

func (e *env) random() *mathrand.Rand {
	seed := e.backend.Seed
	if seed == 0 {
		seed = mathrand.Uint64() //nolint:gosec // it is logged, so that it can be used again
	}
	e.Logf("Backend.Seed: %d", seed)
	return mathrand.New(mathrand.NewPCG(seed, 0)) //nolint:gosec // of a test
}

type source struct {
	e *env
	generation.Source
}

func (s *source) term(label, owner string) generation.Generation {
	s.e.Helper()
	g, err := s.ClaimTerm(s.e.Context(), label, owner, 0)
	require.NoError(s.e, err)
	return g
}

func (s *source) seq(label string) generation.Generation {
	s.e.Helper()
	g, err := s.ClaimSeq(s.e.Context(), label)
	require.NoError(s.e, err)
	return g
}

func (s *source) neverClaimed(label string) {
	s.e.Helper()
	_, err := s.ClaimSeq(s.e.Context(), label)
	require.ErrorIs(s.e, err, generation.ErrNeverClaimed)
}

func (s *source) put(label, spec string) {
	s.e.Helper()
	require.NoError(s.e, s.PutSpec(s.e.Context(), label, []byte(spec)))
}

func (s *source) forget(label string) {
	s.e.Helper()
	require.NoError(s.e, s.Forget(s.e.Context(), label))
}

func (s *source) owner(label string) generation.Ownership {
	s.e.Helper()
	o, owned, err := s.Current(s.e.Context(), label)
	require.NoError(s.e, err)
	require.True(s.e, owned, "%q has no owner", label)
	return o
}

func (s *source) ownerless(label string) {
	s.e.Helper()
	o, owned, err := s.Current(s.e.Context(), label)
	require.NoError(s.e, err)
	require.False(s.e, owned, "%q is owned by %v", label, o)
	require.Zero(s.e, o)
}

func (s *source) list(begin string) (records []generation.Record) {
	s.e.Helper()
	all, err := s.List(s.e.Context())
	require.NoError(s.e, err)
	for _, r := range all {
		if strings.HasPrefix(r.Label, begin) {
			records = append(records, r)
		}
	}
	return records
}

// The labels must be sorted.
func (s *source) kept(begin string) map[string]string {
	s.e.Helper()
	specs, before := map[string]string{}, ""
	for _, r := range s.list(begin) {
		require.Less(s.e, before, r.Label, "labels are sorted, and each is there once")
		specs[r.Label], before = string(r.Spec), r.Label
	}
	return specs
}

func gen(term, seq uint64) generation.Generation {
	return generation.Generation{Term: term, Seq: seq}
}

func owned(owner string, term, seq uint64) generation.Ownership {
	return generation.Ownership{Owner: owner, Generation: gen(term, seq)}
}
