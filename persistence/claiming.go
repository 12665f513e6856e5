package persistence

import (
	"context"
	"fmt"

	"github.com/understudy-go/understudy/internal/fence"
)

// claimFor claims id for what runs under ctx. When that is the instance of a singleton,
// the epoch is its generation or a later one, and the singleton learns which: so the two
// agree, and generations are those of the journal, which outlives clusters.
func claimFor(ctx context.Context, j Journal, id string, writer WriterID) (Claim, error) {
	floor, err := fence.Floor(ctx)
	if err != nil {
		return Claim{}, fmt.Errorf("claim %q: %w", id, err)
	}
	claim, err := claimAtLeast(ctx, j, id, writer, floor)
	if err != nil {
		return Claim{}, err
	}
	fence.Claimed(ctx, claim.Epoch)
	return claim, nil
}

// claimAtLeast claims id under floor or a later epoch, where the journal can.
func claimAtLeast(ctx context.Context, j Journal, id string, writer WriterID, floor uint64) (Claim, error) {
	if f, can := j.(FloorClaimer); can && floor > 0 {
		return f.ClaimAtLeast(ctx, id, writer, floor)
	}
	return j.Claim(ctx, id, writer)
}
