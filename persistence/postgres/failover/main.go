// Command failover is examples/failover with its journal in PostgreSQL: a counter in a
// cluster of three processes keeps its count while its host is killed, again and again.
//
//	go -C persistence/postgres run ./failover -journal postgres://user@host/db
//
// The tables are in a schema of their own, understudy_failover, which it makes when it is
// not there. Each run counts under a new persistence id, so any number of them may use the
// database, also at the same time. What was counted stays;
//
//	DROP SCHEMA understudy_failover CASCADE
//
// removes it. Everything else is as in examples/failover: -pause, and without -journal an
// SQLite database in a temporary directory.
package main

import (
	"context"

	"github.com/understudy-go/understudy/internal/lab/failover"
	"github.com/understudy-go/understudy/persistence/postgres"
)

const schema = "understudy_failover"

func main() { failover.Main(map[string]failover.Opener{"postgres": open, "postgresql": open}) }

func open(ctx context.Context, url string) (failover.Journal, error) {
	j, err := postgres.Open(ctx, url, postgres.Schema(schema))
	if err != nil {
		return nil, err
	}
	return j, nil
}
