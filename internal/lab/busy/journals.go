package busy

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/pause"
	"github.com/understudy-go/understudy/persistence/journal"
	"github.com/understudy-go/understudy/persistence/sqlite"
)

// FenceWriter lets two actors on the first node write under one persistence id, until the journal
// refuses a write of the earlier one.
func (p *Program) FenceWriter(ctx context.Context) error {
	first := actor.Spawn(p.Nodes[0], newLedger("contested", p.store, "contested"), "contested-1") //nolint:contextcheck // actors have contexts of their own
	if err := sell(ctx, first, "hat"); err != nil {
		return err
	}
	second := actor.Spawn(p.Nodes[0], newLedger("contested", p.store, "contested"), "contested-2") //nolint:contextcheck // actors have contexts of their own
	if err := sell(ctx, second, "hat"); err != nil {
		return err
	}
	if err := sell(ctx, first, "hat"); !errors.Is(err, journal.ErrFenced) {
		return fmt.Errorf("the journal has not refused the earlier writer: %w", err)
	}
	return nil
}

// FailJournal lets an actor on the first node write to a SQLite journal that was closed under it.
func (p *Program) FailJournal(ctx context.Context) error {
	closed, err := sqlite.Open(filepath.Join(p.dir, "closed.db")) //nolint:contextcheck // it opens a file
	if err != nil {
		return err
	}
	ledger := actor.Spawn(p.Nodes[0], newLedger("closed", closed, "closed"), "closed") //nolint:contextcheck // actors have contexts of their own
	if err := errors.Join(sell(ctx, ledger, "hat"), closed.Close()); err != nil {
		return err
	}
	if err := sell(ctx, ledger, "hat"); !errors.Is(err, journal.ErrClosed) {
		return fmt.Errorf("the closed journal has not failed the actor: %w", err)
	}
	return nil
}

// SpawnSlowWriter spawns a ledger on the first node whose journal in memory takes a second for each
// append.
func (p *Program) SpawnSlowWriter() actor.ActorRef[Sale] {
	return actor.Spawn(p.Nodes[0], newLedger("slow", slowJournal{journal.NewMemory()}, "slow"), "slow")
}

// A slowJournal takes a second for each append.
type slowJournal struct{ *journal.Memory }

// Unwrap implements [journal.Wrapper].
func (j slowJournal) Unwrap() journal.Journal { return j.Memory }

// Append implements [journal.Journal].
func (j slowJournal) Append(ctx context.Context, reqs []journal.AppendRequest) []error {
	_ = pause.For(ctx, time.Second) // if ctx ends, the append says so
	return j.Memory.Append(ctx, reqs)
}
