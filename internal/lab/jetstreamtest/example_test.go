package jetstreamtest

import (
	"context"
	"fmt"
	"os"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/understudy-go/understudy/persistence/jetstream"
	"github.com/understudy-go/understudy/persistence/journal"
)

// A journal on one server, which is part of this program.
func Example() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "understudy-nats-")
	if err != nil {
		panic(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	s, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: -1, JetStream: true, StoreDir: dir, SyncAlways: true, NoSigs: true})
	if err != nil {
		panic(err)
	}
	s.Start()
	defer s.Shutdown()

	nc, err := nats.Connect(s.ClientURL())
	if err != nil {
		panic(err)
	}
	defer nc.Close()
	store, err := jetstream.Open(ctx, nc, jetstream.Config{Stream: "bank", Durability: jetstream.SyncAlways, Replicas: 1})
	if err != nil {
		panic(err)
	}
	defer store.Close()

	claim, err := store.Claim(ctx, "account-1", journal.WriterID{1}, journal.Bounds{})
	if err != nil {
		panic(err)
	}
	fmt.Println("epoch", claim.Epoch)
	errs := store.Append(ctx, []journal.AppendRequest{{
		ID: "account-1", Epoch: claim.Epoch, Prev: claim.LastSeq,
		Records: []journal.Record{{Seq: claim.LastSeq + 1, Epoch: claim.Epoch, Type: "opened", Payload: []byte("…")}},
	}})
	fmt.Println("stored:", errs[0] == nil)
	for e, err := range store.Events(ctx, journal.Query{}, "") {
		fmt.Println(e.ID, e.Offset, e.Record.Type, err)
	}
	// Output:
	// epoch 1
	// stored: true
	// account-1 js:bank:2:1 opened <nil>
}
