package sqlite_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/understudy-go/understudy/persistence/journal"
	"github.com/understudy-go/understudy/persistence/sqlite"
)

// Two processes have the same file open, here two handles of one process. The writer with the
// newest claim may write.
func ExampleOpen() {
	dir, err := os.MkdirTemp("", "example")
	check(err)
	defer func() { check(os.RemoveAll(dir)) }()
	ctx := context.Background()
	write := func(j *sqlite.Journal, epoch, prev uint64, payload string) error {
		return j.Append(ctx, []journal.AppendRequest{{
			ID: "counter", Epoch: epoch, Prev: prev,
			Records: []journal.Record{{Seq: prev + 1, Epoch: epoch, Type: "incremented", Payload: []byte(payload)}},
		}})[0]
	}

	first, err := sqlite.Open(filepath.Join(dir, "journal.db"))
	check(err)
	defer first.Close()
	old, err := first.Claim(ctx, "counter", journal.WriterID{1}, journal.Bounds{})
	fmt.Println(old, err)
	fmt.Println(write(first, old.Epoch, old.LastSeq, "a"))

	second, err := sqlite.Open(filepath.Join(dir, "journal.db"))
	check(err)
	defer second.Close()
	claim, err := second.Claim(ctx, "counter", journal.WriterID{2}, journal.Bounds{})
	fmt.Println(claim, err)
	fmt.Println(errors.Is(write(first, old.Epoch, 1, "zombie"), journal.ErrFenced))
	fmt.Println(write(second, claim.Epoch, claim.LastSeq, "b"))

	for r, err := range second.Read(ctx, "counter", 1, 2) {
		fmt.Println(r.Seq, r.Epoch, string(r.Payload), err)
	}
	// Output:
	// {1 0 0 true []} <nil>
	// <nil>
	// {2 1 0 true []} <nil>
	// true
	// <nil>
	// 1 1 a <nil>
	// 2 2 b <nil>
}

// ProcessSafe is for data whose last changes may be lost in a crash of the machine.
func ExampleProcessSafe() {
	dir, err := os.MkdirTemp("", "example")
	check(err)
	defer func() { check(os.RemoveAll(dir)) }()
	j, err := sqlite.Open(filepath.Join(dir, "sessions.db"), sqlite.ProcessSafe())
	check(err)
	fmt.Println(j.Close())
	// Output: <nil>
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
