package projection_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/internal/tenure"
	"github.com/understudy-go/understudy/persistence/journal"
	"github.com/understudy-go/understudy/persistence/projection"
)

// nowhere is the connector of a database that is away.
type nowhere struct{}

func (nowhere) Connect(context.Context) (driver.Conn, error) { return nil, errors.New("away") }

func (nowhere) Driver() driver.Driver { return nil }

// A singleton that is fenced is replaced after a crash without waiting. Two projections in
// transactions do no harm, two others may handle an event twice.
func TestAProjectionInTransactionsSaysThatItIsFenced(t *testing.T) {
	db := sql.OpenDB(nowhere{})
	defer db.Close()
	inTx := projection.InTx(db, func(context.Context, *sql.Tx, projection.Event[event]) error { return nil })
	atLeastOnce := projection.AtLeastOnce(&projection.MemoryOffsets{}, newSum().handle)
	for name, c := range map[string]struct {
		handler projection.Handler[event]
		fenced  bool
	}{
		"in transactions":           {inTx, true},
		"the same, of old events":   {projection.FromJournal(adaptNumbers, inTx), true},
		"at least once":             {atLeastOnce, false},
		"at least once, old events": {projection.FromJournal(adaptNumbers, atLeastOnce), false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				fenced := false
				ctx := tenure.With(t.Context(), tenure.New("", tenure.Generation{Term: 7}, tenure.Hooks{Claimed: func(_ tenure.Claim, started, raised tenure.Generation) { fenced = started == raised }}))
				p := projection.New("sum", journal.NewMemory(), journal.Query{}, c.handler)
				actor.Spawn(quiet(t), p.Behavior(), "sum", extension.WithContext(ctx))
				synctest.Wait()
				require.Equal(t, c.fenced, fenced)
			})
		})
	}
}
