// Package postgres runs the programs of examples on journals in PostgreSQL. It is a module of its
// own, so that the published one has no programs in it.
package postgres

import (
	"context"

	"github.com/understudy-go/understudy/internal/lab/journals"
	"github.com/understudy-go/understudy/persistence/postgres"
)

// Openers opens journals at URLs of PostgreSQL, with their tables in that schema.
func Openers(schema string) journals.Openers {
	open := func(ctx context.Context, url string) (journals.Journal, error) {
		j, err := postgres.Open(ctx, url, postgres.Schema(schema))
		if err != nil {
			return nil, err
		}
		return j, nil
	}
	return journals.Openers{"postgres": open, "postgresql": open}
}
