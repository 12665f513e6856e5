package generation

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"
)

// entries is what operations work on.
type entries interface {
	// get returns what is known of a label, be it nothing.
	get(label string) entry
	put(label string, e entry)
	all() iter.Seq[entry]
}

// operations makes a [Source] out of a function that applies a change to the entries at one
// moment, for all nodes. It may apply it several times; the last time counts.
type operations func(ctx context.Context, apply func(entries) error) error

// ClaimTerm implements [Source].
func (do operations) ClaimTerm(ctx context.Context, label, owner string) (Generation, error) {
	var claimed entry
	err := do(ctx, func(known entries) (err error) {
		if claimed, err = known.get(label).claimTerm(owner); err == nil {
			known.put(label, claimed)
		}
		return err
	})
	if err != nil {
		return Generation{}, failed("claim a term", label, err)
	}
	return claimed.generation(), nil
}

// ClaimSeq implements [Source].
func (do operations) ClaimSeq(ctx context.Context, label string) (Generation, error) {
	var claimed entry
	err := do(ctx, func(known entries) (err error) {
		if claimed, err = known.get(label).claimSeq(); err == nil {
			known.put(label, claimed)
		}
		return err
	})
	if err != nil {
		return Generation{}, failed("claim a number", label, err)
	}
	return claimed.generation(), nil
}

// Current implements [Source].
func (do operations) Current(ctx context.Context, label string) (Ownership, bool, error) {
	var found entry
	err := do(ctx, func(known entries) error {
		found = known.get(label)
		return nil
	})
	if err != nil {
		return Ownership{}, false, failed("look for the owner", label, err)
	}
	o, owned := found.ownership()
	return o, owned, nil
}

// PutSpec implements [Source].
func (do operations) PutSpec(ctx context.Context, label string, spec []byte) error {
	spec = bytes.Clone(spec) // the caller may change it when ctx has ended
	err := do(ctx, func(known entries) error {
		if e := known.get(label); !e.Kept || !bytes.Equal(e.Spec, spec) {
			known.put(label, e.putSpec(spec))
		}
		return nil
	})
	return failed("keep the spec", label, err)
}

// List implements [Source].
func (do operations) List(ctx context.Context) ([]Record, error) {
	var kept []entry
	err := do(ctx, func(known entries) error {
		kept = nil
		for e := range known.all() {
			if e.Kept {
				kept = append(kept, e)
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("generation: list: %w", err)
	}
	records := make([]Record, len(kept))
	for i, e := range kept {
		records[i] = e.record()
	}
	slices.SortFunc(records, func(a, b Record) int { return cmp.Compare(a.Label, b.Label) })
	return records, nil
}

// Forget implements [Source].
func (do operations) Forget(ctx context.Context, label string) error {
	err := do(ctx, func(known entries) error {
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
	return fmt.Errorf("generation: %s of %q: %w", what, label, err)
}
