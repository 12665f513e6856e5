package persistence_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/understudy-go/understudy/persistence"
	"github.com/understudy-go/understudy/persistence/memory"
)

// Encryption at rest: what is in the journal can be read with the key only. A key is
// replaced by making it a former one.
func ExampleNewEncryption() {
	key := bytes.Repeat([]byte{1}, persistence.KeySize) // from a secret store; random
	next := bytes.Repeat([]byte{2}, persistence.KeySize)

	stored := memory.New()
	first, err := persistence.NewEncryption(key)
	fmt.Println(err)
	remember(persistence.WithCodec(stored, first), 1, "a secret")

	rotated, err := persistence.NewEncryption(next, key)
	fmt.Println(err)
	remember(persistence.WithCodec(stored, rotated), 2, "another")
	fmt.Println(recite(persistence.WithCodec(stored, rotated)))

	fmt.Println(recite(persistence.WithCodec(stored, first)))
	// Output:
	// <nil>
	// <nil>
	// [a secret another] <nil>
	// [a secret] read "diary": record 2: persistence: stored by another codec: the key 9b32728ef1a19be5 is missing; give it to NewEncryption as a former one
}

// remember writes as an event-sourced actor would.
func remember(j persistence.Journal, seq uint64, text string) {
	ctx := context.Background()
	claim, err := j.Claim(ctx, "diary", persistence.WriterID{})
	req := persistence.AppendRequest{ID: "diary", Epoch: claim.Epoch, Prev: seq - 1, Records: []persistence.Record{
		{Seq: seq, Epoch: claim.Epoch, Type: "written", Payload: []byte(text)},
	}}
	if err := errors.Join(append(j.Append(ctx, []persistence.AppendRequest{req}), err)...); err != nil {
		fmt.Println(err)
	}
}

func recite(j persistence.Journal) (texts []string, err error) {
	for r, err := range j.Read(context.Background(), "diary", 1, 100) {
		if err != nil {
			return texts, err
		}
		texts = append(texts, string(r.Payload))
	}
	return texts, nil
}
