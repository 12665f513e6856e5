package postgres_test

import (
	"context"
	"os"
	"testing"

	"go.uber.org/zap"

	"github.com/understudy-go/understudy/internal/lab/processes"
	"github.com/understudy-go/understudy/internal/pg/pgtest"
	"github.com/understudy-go/understudy/persistence/journal"
	"github.com/understudy-go/understudy/persistence/postgres"
)

func TestMain(m *testing.M) {
	processes.Main(processes.Writers(func(place []string) (journal.Journal, error) {
		return postgres.Open(context.Background(), place[0], postgres.Schema(place[1]))
	}, map[string]processes.Role{
		"migrate": processes.Migrator(func(place []string, log *zap.Logger) (journal.Journal, error) {
			return openLater(context.Background(), place[0], place[1], log)
		}),
	}))
	os.Exit(pgtest.Main(m))
}
