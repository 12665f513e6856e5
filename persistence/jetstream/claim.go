package jetstream

import (
	"context"

	"github.com/understudy-go/understudy/persistence/journal"
)

// Claim implements [journal.Journal]. A claim whose outcome is not known wraps
// [journal.ErrUnknown]: claim again, which costs an epoch.
func (j *Journal) Claim(ctx context.Context, id string, writer journal.WriterID, floor uint64) (journal.Claim, error) {
	var claim journal.Claim
	err := j.call(ctx, "claim", id, func(ctx context.Context) error {
		e, release := j.entity(id)
		defer release()
		tries := 0
		p, err := j.change(ctx, id, e, func(_ context.Context, p *position, _ bool) (head, []byte, error) {
			if tries++; tries > 1 {
				j.askForRoom(id, tries)
			}
			epoch, err := journal.NextEpoch(p.epoch, floor)
			h := p.next(kindClaim)
			h.epoch, h.writer = epoch, writer
			return h, nil, err
		})
		if err != nil {
			return err
		}
		claim = journal.Claim{Epoch: p.epoch, LastSeq: p.last, DeletedTo: p.deletedTo}
		return nil
	})
	return claim, err
}
