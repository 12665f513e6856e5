package journaltest

import (
	"slices"
	"testing"

	"github.com/understudy-go/understudy/persistence/journal"
)

// Features say what else a store can do and lend a hand where the interfaces end. The
// zero value is a store of which nothing is known. Hooks report failures to their t.
type Features struct {
	// MaxPayload is the size of the largest payload, in bytes; 0 when there is no limit.
	MaxPayload int

	// ReplayHeap is by how much the heap may grow during a replay, in bytes; 0 means 3 MiB. More
	// is for a store whose server runs in the process of the test.
	ReplayHeap int

	// Seed of the random laws; 0 picks one and logs it.
	Seed uint64

	// Skipped has a line for each law that is skipped: its name, a colon and the reason, as
	// Run prints them. Run fails when it skips another one, or none for such a line.
	Skipped string

	// Reopen closes j and opens what it has stored again.
	Reopen func(t *testing.T, j journal.Journal) journal.Journal

	// SecondHandle opens what j stores once more, as another process would.
	SecondHandle func(t *testing.T, j journal.Journal) journal.Journal

	// DamageRecord changes a byte of the payload of a stored record.
	DamageRecord func(t *testing.T, j journal.Journal, id string, seq uint64)

	// DropRecord loses a stored record without j noticing.
	DropRecord func(t *testing.T, j journal.Journal, id string, seq uint64)

	// DamageSnapshot changes a byte of the payload of a stored snapshot.
	DamageSnapshot func(t *testing.T, j journal.Journal, id string, seq uint64)

	// Stall keeps j from writing until release is called.
	Stall func(t *testing.T, j journal.Journal) (release func())

	// Fill takes away the space for anything more, until free is called.
	Fill func(t *testing.T, j journal.Journal) (free func())
}

// Run checks the journals that open returns. Each must be empty; open sees to it that
// they get closed, though some laws close theirs first.
func Run(t *testing.T, open func(t *testing.T) journal.Journal, f Features) {
	skips := &skips{pinned: lines(f.Skipped)}
	for _, l := range laws() {
		passed := t.Run(l.name, func(t *testing.T) {
			skips.ran = append(skips.ran, l.name)
			l.check(&env{T: t, features: f, open: open, law: l.name, skips: skips})
		})
		if !passed {
			skips.failed = append(skips.failed, l.name)
		}
	}
	skips.report(t)
}

// A law is something that is true of every journal.
type law struct {
	name  string
	check func(*env)
}

func laws() []law {
	return slices.Concat(basicLaws, idLaws, historyLaws, fencingLaws, floorLaws, retryLaws, groupLaws, concurrencyLaws,
		endLaws, deletionLaws, snapshotLaws, reopenLaws, damageLaws, modelLaws, queryLaws, tailLaws)
}
