package codec_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/understudy-go/understudy/persistence/codec"
	"github.com/understudy-go/understudy/persistence/journal"
)

// Encryption at rest: only a program with the key can read the journal. To replace a key, make it a
// former one.
func ExampleNewEncryption() {
	key := bytes.Repeat([]byte{1}, codec.KeySize) // from a secret store; random
	next := bytes.Repeat([]byte{2}, codec.KeySize)

	stored := journal.NewMemory()
	first, err := codec.NewEncryption(key)
	fmt.Println(err)
	remember(codec.Wrap(stored, first), 1, "a secret")

	rotated, err := codec.NewEncryption(next, key)
	fmt.Println(err)
	remember(codec.Wrap(stored, rotated), 2, "another")
	fmt.Println(recite(codec.Wrap(stored, rotated)))

	fmt.Println(recite(codec.Wrap(stored, first)))
	// Output:
	// <nil>
	// <nil>
	// [a secret another] <nil>
	// [a secret] read "diary": record 2: persistence: stored by another codec: the key 9b32728ef1a19be5 is missing; give it to NewEncryption as a former one
}

// remember writes as an event-sourced actor would.
func remember(j journal.Journal, seq uint64, text string) {
	ctx := context.Background()
	claim, err := j.Claim(ctx, "diary", journal.WriterID{}, journal.Bounds{})
	req := journal.AppendRequest{ID: "diary", Epoch: claim.Epoch, Prev: seq - 1, Records: []journal.Record{
		{Seq: seq, Epoch: claim.Epoch, Type: "written", Payload: []byte(text)},
	}}
	if err := errors.Join(append(j.Append(ctx, []journal.AppendRequest{req}), err)...); err != nil {
		fmt.Println(err)
	}
}

func recite(j journal.Journal) (texts []string, err error) {
	for r, err := range j.Read(context.Background(), "diary", 1, 100) {
		if err != nil {
			return texts, err
		}
		if !r.Shredded {
			texts = append(texts, string(r.Payload))
		}
	}
	return texts, nil
}

// Each customer has a key of their own. Destroying it erases what the journal and its backups
// have about them; the events of others are read as before.
func ExampleNewSubjects() {
	ctx := context.Background()
	stored := journal.NewMemory()
	keys := codec.NewMemoryKeys() // in a program: codec.NewSQLKeys
	subjects := codec.NewSubjects(keys, func(at codec.PayloadID) (subject string) { return at.ID })
	journal := codec.Wrap(stored, subjects)
	remember(journal, 1, "a secret")
	fmt.Println(recite(journal))

	err := subjects.Forget(ctx, "diary")
	fmt.Println(err)
	fmt.Println(recite(journal))
	remember(journal, 2, "another")
	// Output:
	// [a secret] <nil>
	// <nil>
	// [] <nil>
	// append "diary": codec "subjects-1" cannot encode: key of subject a88541f394b342dfcf19a1c85906bf90: persistence: the subject was forgotten: its key was destroyed
}
