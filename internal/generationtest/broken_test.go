package generationtest_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/generationtest"
	"github.com/understudy-go/understudy/persistence/generations"
	"github.com/understudy-go/understudy/singleton/generation"
)

// broken are sources that break their contract, each in one way, and a law that finds it.
var broken = map[string]struct {
	law    string
	source func(*generations.Journal) generation.Source
}{
	"begins at zero": {"TheFirstTermIsOne", func(m *generations.Journal) generation.Source {
		return altered{Journal: m, claimTerm: func(ctx context.Context, label, owner string, floor uint64) (generation.Generation, error) {
			g, err := m.ClaimTerm(ctx, label, owner, floor)
			g.Term--
			return g, err
		}}
	}},
	"leaves numbers from the term before": {"NumbersGrowWithinATermAndBeginAnewWithTheNext", func(m *generations.Journal) generation.Source {
		return altered{Journal: m, claimTerm: func(ctx context.Context, label, owner string, floor uint64) (generation.Generation, error) {
			o, _, _ := m.Current(ctx, label)
			g, err := m.ClaimTerm(ctx, label, owner, floor)
			g.Seq = o.Generation.Seq
			return g, err
		}}
	}},
	"ignores the floor": {"ATermIsAboveTheFloorAndAllTermsBefore", func(m *generations.Journal) generation.Source {
		return altered{Journal: m, claimTerm: func(ctx context.Context, label, owner string, _ uint64) (generation.Generation, error) {
			return m.ClaimTerm(ctx, label, owner, 0)
		}}
	}},
	"claims twice when two ask at once": {"AHundredClaimsAtOnceAreTheTermsOneToAHundred", func(m *generations.Journal) generation.Source {
		var mu sync.Mutex
		claims := 0
		return altered{Journal: m, claimTerm: func(ctx context.Context, label, owner string, floor uint64) (generation.Generation, error) {
			mu.Lock()
			defer mu.Unlock()
			if claims++; claims == 50 {
				o, _, err := m.Current(ctx, label)
				return o.Generation, err
			}
			return m.ClaimTerm(ctx, label, owner, floor)
		}}
	}},
	"claims a number without a term": {"ANumberWithoutATermIsRefused", func(m *generations.Journal) generation.Source {
		return altered{Journal: m, claimSeq: func(ctx context.Context, label string) (generation.Generation, error) {
			if _, owned, _ := m.Current(ctx, label); !owned {
				return generation.Generation{Seq: 1}, nil
			}
			return m.ClaimSeq(ctx, label)
		}}
	}},
	"begins anew after forgetting": {"WhatIsForgottenIsNotListedAndItsTermsGoOn", func(m *generations.Journal) generation.Source {
		forgotten := uint64(0)
		return altered{Journal: m, claimTerm: func(ctx context.Context, label, owner string, floor uint64) (generation.Generation, error) {
			g, err := m.ClaimTerm(ctx, label, owner, floor)
			g.Term -= forgotten
			return g, err
		}, forget: func(ctx context.Context, label string) error {
			o, _, err := m.Current(ctx, label)
			forgotten = o.Generation.Term
			return errors.Join(err, m.Forget(ctx, label))
		}}
	}},
	"does not forget the owner": {"WhatIsForgottenIsNotListedAndItsTermsGoOn", func(m *generations.Journal) generation.Source {
		return altered{Journal: m, forget: func(context.Context, string) error { return nil }}
	}},
	"takes upper case for lower": {"LabelsAndOwnersMayBeAnyText", func(m *generations.Journal) generation.Source {
		return altered{Journal: m, claimTerm: func(ctx context.Context, label, owner string, floor uint64) (generation.Generation, error) {
			return m.ClaimTerm(ctx, strings.ToLower(label), owner, floor)
		}}
	}},
	"lists in any order": {"LabelsWithASpecAreListedInOrder", func(m *generations.Journal) generation.Source {
		return altered{Journal: m, list: func(ctx context.Context) ([]generation.Record, error) {
			records, err := m.List(ctx)
			slices.Reverse(records)
			return records, err
		}}
	}},
	"is of each node": {"AHundredClaimsFromFiveNodesAreTheTermsOneToAHundred", func(*generations.Journal) generation.Source {
		return generations.NewMemory()
	}},
	"ignores contexts": {"WhatIsCancelledBeforehandFailsAndChangesNothing", func(m *generations.Journal) generation.Source {
		return altered{Journal: m, claimTerm: func(ctx context.Context, label, owner string, floor uint64) (generation.Generation, error) {
			return m.ClaimTerm(context.WithoutCancel(ctx), label, owner, floor)
		}}
	}},
	"forgets the rest, too, now and then": {"AnyOperationsDoWhatTheModelDoes", func(m *generations.Journal) generation.Source {
		return altered{Journal: m, forget: func(ctx context.Context, label string) error {
			records, err := m.List(ctx)
			if err == nil && len(records) == 4 {
				err = m.Forget(ctx, records[0].Label)
			}
			if err != nil {
				return err
			}
			return m.Forget(ctx, label)
		}}
	}},
}

// altered is a memory of which some operations are done otherwise.
type altered struct {
	*generations.Journal
	claimTerm func(ctx context.Context, label, owner string, floor uint64) (generation.Generation, error)
	claimSeq  func(ctx context.Context, label string) (generation.Generation, error)
	list      func(ctx context.Context) ([]generation.Record, error)
	forget    func(ctx context.Context, label string) error
}

func (a altered) ClaimTerm(ctx context.Context, label, owner string, floor uint64) (generation.Generation, error) {
	if a.claimTerm != nil {
		return a.claimTerm(ctx, label, owner, floor)
	}
	return a.Journal.ClaimTerm(ctx, label, owner, floor)
}

func (a altered) ClaimSeq(ctx context.Context, label string) (generation.Generation, error) {
	if a.claimSeq != nil {
		return a.claimSeq(ctx, label)
	}
	return a.Journal.ClaimSeq(ctx, label)
}

func (a altered) List(ctx context.Context) ([]generation.Record, error) {
	if a.list != nil {
		return a.list(ctx)
	}
	return a.Journal.List(ctx)
}

func (a altered) Forget(ctx context.Context, label string) error {
	if a.forget != nil {
		return a.forget(ctx, label)
	}
	return a.Journal.Forget(ctx, label)
}

const brokenSource = "GENERATIONTEST_BROKEN_SOURCE"

// TestBrokenSource is run by TestBrokenSourcesAreFoundOut, in a process of its own.
func TestBrokenSource(t *testing.T) {
	b, ok := broken[os.Getenv(brokenSource)]
	if !ok {
		t.Skip("run by TestBrokenSourcesAreFoundOut")
	}
	generationtest.Run(t, func(*testing.T) generationtest.Backend {
		m := generations.NewMemory()
		return generationtest.Backend{Open: func(*testing.T) generation.Source { return b.source(m) }}
	})
}

func TestBrokenSourcesAreFoundOut(t *testing.T) {
	for name, b := range broken {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestBrokenSource$/^"+b.law+"$", "-test.timeout=1m")
			cmd.Env = append(os.Environ(), brokenSource+"="+name)
			out, err := cmd.CombinedOutput()
			require.Error(t, err, "%s did not find it:\n%s", b.law, out)
			require.Contains(t, string(out), "--- FAIL: TestBrokenSource/"+b.law)
		})
	}
}
