package formats

import (
	"crypto/rand"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/pgtest"
	"github.com/understudy-go/understudy/persistence/jetstream"
	"github.com/understudy-go/understudy/persistence/journal"
	"github.com/understudy-go/understudy/persistence/postgres"
	"github.com/understudy-go/understudy/persistence/sqlite"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Main(m)) }

// A store keeps snapshots, as each of the stores does.
type store interface {
	journal.Journal
	journal.SnapshotStore
}

// onEachStore runs f with functions that open empty stores.
func onEachStore(t *testing.T, f func(t *testing.T, open func(t *testing.T) store)) {
	for name, open := range map[string]func(t *testing.T) store{
		"memory": func(*testing.T) store { return journal.NewMemory() },
		"sqlite": func(t *testing.T) store {
			j, err := sqlite.Open(filepath.Join(t.TempDir(), "journal.db"))
			return closed(t, j, err)
		},
		"postgres": func(t *testing.T) store {
			j, err := postgres.Open(t.Context(), pgtest.Shared(t).URL(), postgres.Schema(rand.Text()))
			return closed(t, j, err)
		},
		"jetstream": func(t *testing.T) store {
			j, err := jetstream.Open(t.Context(), connection(t), jetstream.Config{Stream: "journal", Durability: jetstream.DeferredSync, Replicas: 1})
			return closed(t, j, err)
		},
	} {
		t.Run(name, func(t *testing.T) { f(t, open) })
	}
}

func closed(t *testing.T, s store, err error) store {
	t.Helper()
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

// connection is to a NATS server in this process.
func connection(t *testing.T) *nats.Conn {
	t.Helper()
	s, err := server.NewServer(&server.Options{
		Host: "127.0.0.1", Port: server.RANDOM_PORT, JetStream: true, StoreDir: t.TempDir(), NoLog: true, NoSigs: true,
	})
	require.NoError(t, err)
	s.Start()
	t.Cleanup(func() {
		s.Shutdown()
		s.WaitForShutdown()
	})
	require.True(t, s.ReadyForConnections(20*time.Second))
	nc, err := nats.Connect(s.ClientURL())
	require.NoError(t, err)
	t.Cleanup(nc.Close)
	return nc
}
