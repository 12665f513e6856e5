package jetstream

import (
	"context"

	"github.com/understudy-go/understudy/persistence"
)

// Claim implements [persistence.Journal].
func (j *Journal) Claim(ctx context.Context, id string, writer persistence.WriterID) (persistence.Claim, error) {
	return j.ClaimAtLeast(ctx, id, writer, 0)
}

// ClaimAtLeast implements [persistence.FloorClaimer]. A claim whose outcome nobody can tell
// wraps [persistence.ErrUnknown]: claim again, it only costs an epoch.
func (j *Journal) ClaimAtLeast(ctx context.Context, id string, writer persistence.WriterID, floor uint64) (persistence.Claim, error) {
	var claim persistence.Claim
	err := j.call(ctx, "claim", id, func(ctx context.Context) error {
		e, release := j.entity(id)
		defer release()
		tries := 0
		p, err := j.change(ctx, id, e, func(_ context.Context, p *position, _ bool) (head, []byte, error) {
			if tries++; tries > 1 {
				j.askForRoom(id, tries)
			}
			epoch, err := persistence.NextEpoch(p.epoch, floor)
			h := p.next(kindClaim)
			h.epoch, h.writer = epoch, writer
			return h, nil, err
		})
		if err != nil {
			return err
		}
		claim = persistence.Claim{Epoch: p.epoch, LastSeq: p.last, DeletedTo: p.deletedTo}
		return nil
	})
	return claim, err
}
