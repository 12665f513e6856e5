package postgres_test

import (
	"context"
	"os"
	"testing"

	"github.com/understudy-go/understudy/internal/lab/processes"
	"github.com/understudy-go/understudy/internal/pg/pgtest"
	"github.com/understudy-go/understudy/persistence/journal"
	"github.com/understudy-go/understudy/persistence/postgres"
)

func TestMain(m *testing.M) {
	processes.Main(processes.Writers(func(place []string) (journal.Journal, error) {
		return postgres.Open(context.Background(), place[0], postgres.Schema(place[1]))
	}, nil))
	os.Exit(pgtest.Main(m))
}
