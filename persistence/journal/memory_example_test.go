package journal_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/understudy-go/understudy/persistence/journal"
)

// One journal is the shared store of all writers of the process. A newer claim fences the older
// one.
func ExampleNewMemory() {
	ctx := context.Background()
	j := journal.NewMemory()
	old, err := j.Claim(ctx, "counter", journal.WriterID{1}, journal.Bounds{})
	fmt.Println(old, err)
	_, err = j.Claim(ctx, "counter", journal.WriterID{2}, journal.Bounds{})
	fmt.Println(err)

	errs := j.Append(ctx, []journal.AppendRequest{{
		ID: "counter", Epoch: old.Epoch, Prev: old.LastSeq,
		Records: []journal.Record{{Seq: 1, Epoch: old.Epoch, Type: "incremented"}},
	}})
	fmt.Println(errors.Is(errs[0], journal.ErrFenced))
	fmt.Println(errs[0])
	// Output:
	// {1 0 0 true []} <nil>
	// <nil>
	// true
	// append "counter": persistence: fenced by a newer claim: epoch 1, the newest is 2
}

// A reader keeps the offset of the last event that it has seen, and continues after it.
func ExampleMemory_Events() {
	ctx := context.Background()
	j := journal.NewMemory()
	for _, id := range []string{"ada", "bob"} {
		claim, err := j.Claim(ctx, id, journal.WriterID{}, journal.Bounds{})
		fmt.Println(err, j.Append(ctx, []journal.AppendRequest{{
			ID: id, Epoch: claim.Epoch,
			Records: []journal.Record{
				{Seq: 1, Epoch: claim.Epoch, Type: "opened", Tags: []string{"account"}},
				{Seq: 2, Epoch: claim.Epoch, Type: "named"},
				{Seq: 3, Epoch: claim.Epoch, Type: "deposited", Tags: []string{"account", "money"}},
			},
		}})[0])
	}

	var last journal.Offset
	for range 2 {
		seen := 0
		for e, err := range j.Events(ctx, journal.Query{Tag: "account"}, last) {
			fmt.Println(e.Offset, e.ID, e.Record.Seq, e.Record.Type, err)
			if last = e.Offset; seen == 1 {
				break
			}
			seen++
		}
	}
	// Output:
	// <nil> <nil>
	// <nil> <nil>
	// memory:1 ada 1 opened <nil>
	// memory:3 ada 3 deposited <nil>
	// memory:4 bob 1 opened <nil>
	// memory:6 bob 3 deposited <nil>
}
