package postgres_test

import (
	"testing"

	"github.com/understudy-go/understudy/internal/generationtest"
	"github.com/understudy-go/understudy/internal/pg/pgtest"
	"github.com/understudy-go/understudy/persistence/generations"
	"github.com/understudy-go/understudy/persistence/postgres"
	"github.com/understudy-go/understudy/singleton/generation"
)

// The generations of managed singletons may be kept in the journal.
func TestAJournalIsASourceOfGenerations(t *testing.T) {
	s := pgtest.Shared(t)
	generationtest.Run(t, func(*testing.T) generationtest.Backend {
		return generationtest.Backend{Open: func(t *testing.T) generation.Source {
			return generations.NewJournal(openAt(t, s.URL(), postgres.Schema("generations")))
		}}
	})
}
