package memory_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/understudy-go/understudy/persistence"
	"github.com/understudy-go/understudy/persistence/memory"
)

// One journal is the shared store of all writers of the process: a newer claim fences the
// older one.
func ExampleNew() {
	ctx := context.Background()
	j := memory.New()
	old, err := j.Claim(ctx, "counter", persistence.WriterID{1})
	fmt.Println(old, err)
	_, err = j.Claim(ctx, "counter", persistence.WriterID{2})
	fmt.Println(err)

	errs := j.Append(ctx, []persistence.AppendRequest{{
		ID: "counter", Epoch: old.Epoch, Prev: old.LastSeq,
		Records: []persistence.Record{{Seq: 1, Epoch: old.Epoch, Type: "incremented"}},
	}})
	fmt.Println(errors.Is(errs[0], persistence.ErrFenced))
	fmt.Println(errs[0])
	// Output:
	// {1 0 0} <nil>
	// <nil>
	// true
	// append "counter": persistence: fenced by a newer claim: epoch 1, the newest is 2
}
