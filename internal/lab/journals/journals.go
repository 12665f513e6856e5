// Package journals opens the journals that the programs of examples take with the flag -journal. A
// program needs no client library of a database; a module of its own runs the same program with
// one.
package journals

import (
	"context"
	"fmt"
	"net/url"
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

// Openers open journals at URLs, by scheme. A path is a SQLite journal and needs no opener.
type Openers map[string]Opener

// Of returns what opens a journal, a URL of one of the known schemes or the path of an SQLite
// database. For other URLs the error names the command that knows PostgreSQL: that in the module
// persistence/postgres with the name of the program.
func (known Openers) Of(journal, program string) (Opener, error) {
	scheme, _, isURL := strings.Cut(journal, "://")
	if !isURL {
		return openSQLite, nil
	}
	if open, ok := known[scheme]; ok {
		return open, nil
	}
	command := "go -C internal/lab/postgres run ./" + program
	if scheme == "postgres" || scheme == "postgresql" {
		return nil, fmt.Errorf("-journal %s://: this command has no client for it; another one does: %s -journal %s://…", scheme, command, scheme)
	}
	return nil, fmt.Errorf("-journal %s://: unknown; it takes the path of an SQLite database, or postgres://… (%s)", scheme, command)
}

func openSQLite(_ context.Context, path string) (Journal, error) {
	j, err := sqlite.Open(path, sqlite.ContinueStopped()) //nolint:contextcheck // opening takes no context
	if err != nil {
		return nil, err
	}
	return j, nil
}

// Shown returns the URL or path of a journal without its password, for output.
func Shown(journal string) string {
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
