package generations

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/understudy-go/understudy/singleton/generation"
)

// ClaimTerm implements [generation.Source].
func (j *Journal) ClaimTerm(ctx context.Context, label, owner string, floor uint64) (generation.Generation, error) {
	var claimed entry
	err := j.do(ctx, func(known staged) (err error) {
		if claimed, err = known.get(label).claimTerm(owner, floor); err == nil {
			known.put(label, claimed)
		}
		return err
	})
	if err != nil {
		return generation.Generation{}, failed("claim a term", label, err)
	}
	return claimed.generation(), nil
}

// ClaimSeq implements [generation.Source].
func (j *Journal) ClaimSeq(ctx context.Context, label string) (generation.Generation, error) {
	var claimed entry
	err := j.do(ctx, func(known staged) (err error) {
		if claimed, err = known.get(label).claimSeq(); err == nil {
			known.put(label, claimed)
		}
		return err
	})
	if err != nil {
		return generation.Generation{}, failed("claim a number", label, err)
	}
	return claimed.generation(), nil
}

// Current implements [generation.Source].
func (j *Journal) Current(ctx context.Context, label string) (generation.Ownership, bool, error) {
	var found entry
	err := j.do(ctx, func(known staged) error {
		found = known.get(label)
		return nil
	})
	if err != nil {
		return generation.Ownership{}, false, failed("look for the owner", label, err)
	}
	o, owned := found.ownership()
	return o, owned, nil
}

// PutSpec implements [generation.Source].
func (j *Journal) PutSpec(ctx context.Context, label string, spec []byte) error {
	spec = bytes.Clone(spec) // the caller may change its own once ctx has ended
	err := j.do(ctx, func(known staged) error {
		if e := known.get(label); !e.Kept || !bytes.Equal(e.Spec, spec) {
			known.put(label, e.putSpec(spec))
		}
		return nil
	})
	return failed("keep the spec", label, err)
}

// List implements [generation.Source].
func (j *Journal) List(ctx context.Context) ([]generation.Record, error) {
	var kept []entry
	err := j.do(ctx, func(known staged) error {
		kept = nil
		for e := range known.all() {
			if e.Kept {
				kept = append(kept, e)
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("generations: list: %w", err)
	}
	records := make([]generation.Record, len(kept))
	for i, e := range kept {
		records[i] = e.record()
	}
	slices.SortFunc(records, func(a, b generation.Record) int { return cmp.Compare(a.Label, b.Label) })
	return records, nil
}

// Forget implements [generation.Source].
func (j *Journal) Forget(ctx context.Context, label string) error {
	err := j.do(ctx, func(known staged) error {
		if e := known.get(label); e.Owned || e.Kept {
			known.put(label, e.forget())
		}
		return nil
	})
	return failed("forget the records", label, err)
}

func failed(what, label string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("generations: %s of %q: %w", what, label, err)
}
