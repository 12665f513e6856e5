package journaltest

import (
	"slices"
	"strings"
	"testing"

	"github.com/understudy-go/understudy/persistence/journal"
)

// Features describe a store, and have hooks for operations that its interfaces lack. All fields are
// optional. Hooks report failures to their t.
type Features struct {
	// MaxPayload is the size of the largest payload, in bytes. Zero means no limit.
	MaxPayload int

	// ReplayHeap bounds the growth of the heap during a replay, in bytes. Zero means 3 MiB. Set
	// more for a store whose server runs in the process of the test.
	ReplayHeap int

	// Seed is the seed of the random laws. Zero picks one and logs it.
	Seed uint64

	// Skipped has a line for each skipped law: its name, a colon and the reason, as Run prints
	// them. Run fails if it skips another law, or does not skip one of these.
	Skipped string

	// Reopen closes j and opens its data again.
	Reopen func(t *testing.T, j journal.Journal) journal.Journal

	// SecondHandle opens the data of j a second time, as another process would.
	SecondHandle func(t *testing.T, j journal.Journal) journal.Journal

	// DamageRecord changes a byte of the payload of a stored record.
	DamageRecord func(t *testing.T, j journal.Journal, id string, seq uint64)

	// DropRecord removes a stored record behind the back of j.
	DropRecord func(t *testing.T, j journal.Journal, id string, seq uint64)

	// DamageSnapshot changes a byte of the payload of a stored snapshot.
	DamageSnapshot func(t *testing.T, j journal.Journal, id string, seq uint64)

	// DamageReader changes a bit of the stored offset of a registered reader.
	DamageReader func(t *testing.T, j journal.Journal, name string)

	// Stall blocks the writes of j until release is called.
	Stall func(t *testing.T, j journal.Journal) (release func())

	// Files returns the names of all files of j that may have what is stored.
	Files func(t *testing.T, j journal.Journal) []string

	// Fill leaves no space for further writes until free is called.
	Fill func(t *testing.T, j journal.Journal) (free func())
}

// Run tests the journals that open returns. Each must be empty. open arranges for them to be
// closed; some laws close theirs earlier.
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

type law struct {
	name  string
	check func(*env)
}

func laws() []law {
	return slices.Concat(basicLaws, idLaws, historyLaws, fencingLaws, boundsLaws, retryLaws, groupLaws, asyncLaws, concurrencyLaws,
		endLaws, deletionLaws, snapshotLaws, reopenLaws, damageLaws, modelLaws, queryLaws, tailLaws, timerLaws, forgetLaws, retainLaws)
}

// skips compares the laws that a store skips with the laws that it is known to skip. Its lines have
// the form of [Features.Skipped].
type skips struct {
	pinned []string
	noted  []string
	ran    []string // the names of the laws that -run selects
	failed []string // the laws among them that failed, so that it is unknown whether they would be skipped
}

func (s *skips) note(law, reason string) { s.noted = append(s.noted, law+": "+reason) }

func (s *skips) report(t *testing.T) {
	t.Helper()
	t.Logf("%d laws, %d of them skipped%s", len(s.ran), len(s.noted), listed(s.noted))
	if more := s.unpinned(); len(more) > 0 {
		t.Errorf("laws are skipped that Features.Skipped does not have: lend Run what they need or, if this store cannot, add%s", listed(more))
	}
	if fewer := s.outdated(); len(fewer) > 0 {
		t.Errorf("these laws are not skipped any more, or not for this reason, or do not exist: take out of Features.Skipped%s", listed(fewer))
	}
}

func (s *skips) unpinned() []string {
	return slices.DeleteFunc(slices.Clone(s.noted), func(line string) bool { return slices.Contains(s.pinned, line) })
}

// outdated returns the pinned lines that no longer hold: the law does not exist, was not skipped,
// or was skipped for another reason.
func (s *skips) outdated() []string {
	return slices.DeleteFunc(slices.Clone(s.pinned), func(line string) bool {
		name, _, _ := strings.Cut(line, ":")
		return slices.Contains(s.noted, line) || slices.Contains(s.failed, name) || isLaw(name) && !slices.Contains(s.ran, name)
	})
}

func isLaw(name string) bool {
	return slices.ContainsFunc(laws(), func(l law) bool { return l.name == name })
}

func lines(text string) []string {
	var all []string
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			all = append(all, line)
		}
	}
	return all
}

func listed(lines []string) string { return strings.Join(append([]string{""}, lines...), "\n") }
