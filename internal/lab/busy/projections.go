package busy

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/persistence/journal"
	"github.com/understudy-go/understudy/persistence/projection"
)

// SpawnLagging spawns a projection, "lagging", on the first node, which fails at an event that was
// written an hour ago.
func (p *Program) SpawnLagging(ctx context.Context) error {
	old := hourAgo{journal.NewMemory()}
	if err := sell(ctx, actor.Spawn(p.Nodes[0], newLedger("old", old, "old"), "old"), "hat"); err != nil { //nolint:contextcheck // actors have contexts of their own
		return err
	}
	lagging := projection.New("lagging", old, journal.Query{Tag: "old"},
		projection.AtLeastOnce(&projection.MemoryOffsets{}, func(context.Context, projection.Event[sold]) error {
			return errors.New("the table is locked")
		}))
	actor.Spawn(p.Nodes[0], lagging.Behavior(), "lagging")
	return nil
}

// An hourAgo is the journal of writers whose clock is an hour late.
type hourAgo struct{ *journal.Memory }

// Unwrap implements [journal.Wrapper].
func (j hourAgo) Unwrap() journal.Journal { return j.Memory }

// Append implements [journal.Journal].
func (j hourAgo) Append(ctx context.Context, reqs []journal.AppendRequest) []error {
	reqs = slices.Clone(reqs)
	for i := range reqs {
		reqs[i].Records = slices.Clone(reqs[i].Records)
		for k := range reqs[i].Records {
			reqs[i].Records[k].Time = reqs[i].Records[k].Time.Add(-time.Hour)
		}
	}
	return j.Memory.Append(ctx, reqs)
}
