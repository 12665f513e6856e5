package failover

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/understudy-go/understudy/persistence"
	"github.com/understudy-go/understudy/persistence/journal"
	"github.com/understudy-go/understudy/persistence/sqlite"
)

// A Journal is a journal with snapshots that several processes can share.
type Journal interface {
	persistence.Journal
	journal.SnapshotStore
}

// An Opener opens the journal that a URL names.
type Opener func(ctx context.Context, url string) (Journal, error)

// elsewhere has the commands whose program knows a scheme of URLs.
var elsewhere = map[string]string{
	"postgres":   "go -C persistence/postgres run ./failover",
	"postgresql": "go -C persistence/postgres run ./failover",
}

// openerOf returns what opens journal, a URL of one of the known schemes or the path of
// an SQLite database.
func openerOf(journal string, known map[string]Opener) (Opener, error) {
	scheme, _, isURL := strings.Cut(journal, "://")
	if !isURL {
		return openSQLite, nil
	}
	if open, ok := known[scheme]; ok {
		return open, nil
	}
	if command, ok := elsewhere[scheme]; ok {
		return nil, fmt.Errorf("-journal %s://: this command has no client for it; another one does: %s -journal %s://…", scheme, command, scheme)
	}
	takes := []string{"the path of an SQLite database"}
	for _, other := range slices.Sorted(maps.Keys(elsewhere)) {
		takes = append(takes, fmt.Sprintf("%s://… (%s)", other, elsewhere[other]))
	}
	return nil, fmt.Errorf("-journal %s://: unknown; it takes %s", scheme, strings.Join(takes, ", "))
}

func openSQLite(_ context.Context, path string) (Journal, error) {
	j, err := sqlite.Open(path, sqlite.ContinueStopped()) //nolint:contextcheck // opening takes no context
	if err != nil {
		return nil, err
	}
	return j, nil
}

// shown returns journal without its password, for output.
func shown(journal string) string {
	scheme, _, isURL := strings.Cut(journal, "://")
	if !isURL {
		return journal
	}
	u, err := url.Parse(journal)
	if err != nil {
		return scheme + "://…"
	}
	return u.Redacted()
}

// A reportingJournal tells the director when a write is refused because a newer writer
// has claimed the counter.
type reportingJournal struct {
	Journal
	out *reporter
}

// Append implements [persistence.Journal].
func (j *reportingJournal) Append(ctx context.Context, reqs []journal.AppendRequest) []error {
	errs := j.Journal.Append(ctx, reqs)
	for _, err := range errs {
		if errors.Is(err, persistence.ErrFenced) {
			j.out.send(report{Fenced: err.Error()})
		}
	}
	return errs
}
