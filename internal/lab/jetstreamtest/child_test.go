package jetstreamtest

import (
	"context"
	"os"
	"strconv"
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/understudy-go/understudy/internal/lab/processes"
	"github.com/understudy-go/understudy/persistence/jetstream"
	"github.com/understudy-go/understudy/persistence/journal"
)

func TestMain(m *testing.M) {
	processes.Main(processes.Writers(openPlace, map[string]processes.Role{"server": serve}))
	os.Exit(m.Run())
}

// A connected journal takes its connection along when it is closed.
type connected struct {
	*jetstream.Journal
	nc *nats.Conn
}

func (j connected) Close() error {
	defer j.nc.Close()
	return j.Journal.Close()
}

// openPlace opens a journal at a place: the address of a server, the stream and its replicas.
func openPlace(place []string) (journal.Journal, error) {
	replicas, err := strconv.Atoi(place[2])
	if err != nil {
		return nil, err
	}
	nc, err := nats.Connect(place[0], nats.MaxReconnects(-1))
	if err != nil {
		return nil, err
	}
	j, err := jetstream.Open(context.Background(), nc, jetstream.Config{Stream: place[1], Durability: jetstream.SyncAlways, Replicas: replicas})
	if err != nil {
		nc.Close()
		return nil, err
	}
	return connected{j, nc}, nil
}
