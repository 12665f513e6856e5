package postgres_test

import (
	"testing"

	"github.com/understudy-go/understudy/cluster/placement/generation"
	"github.com/understudy-go/understudy/cluster/placement/generation/generationtest"
	"github.com/understudy-go/understudy/internal/pg/pgtest"
	"github.com/understudy-go/understudy/persistence/postgres"
)

// The generations of managed singletons may be kept in the journal.
func TestAJournalIsASourceOfGenerations(t *testing.T) {
	s := pgtest.Shared(t)
	generationtest.Run(t, func(*testing.T) generationtest.Backend {
		return generationtest.Backend{Open: func(t *testing.T) generation.Source {
			return generation.NewJournal(openAt(t, s.URL(), postgres.Schema("generations")))
		}}
	})
}
