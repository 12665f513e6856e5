package generations_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/understudy-go/understudy/persistence/generations"
	"github.com/understudy-go/understudy/persistence/journal"
	"github.com/understudy-go/understudy/singleton/generation"
)

// Two nodes that share a journal, here one in memory, claim from one sequence.
func ExampleNewJournal() {
	ctx, store := context.Background(), journal.NewMemory()
	a, b := generations.NewJournal(store), generations.NewJournal(store)

	first, _ := a.ClaimTerm(ctx, "report", "node-a", 0)
	second, _ := b.ClaimTerm(ctx, "report", "node-b", 0)
	again, _ := a.ClaimSeq(ctx, "report")
	fmt.Println(first, second, again)

	owner, _, _ := a.Current(ctx, "report")
	fmt.Println(owner.Owner, owner.Generation)
	// Output:
	// 1.0 2.0 2.1
	// node-b 2.1
}

// A forgotten label has no owner any more, but its terms continue.
func ExampleNewMemory() {
	ctx, source := context.Background(), generations.NewMemory()
	first, _ := source.ClaimTerm(ctx, "report", "node-a", 0)
	_ = source.Forget(ctx, "report")
	_, err := source.ClaimSeq(ctx, "report")
	fmt.Println(first, errors.Is(err, generation.ErrNeverClaimed))

	next, _ := source.ClaimTerm(ctx, "report", "node-b", 0)
	fmt.Println(next)
	// Output:
	// 1.0 true
	// 2.0
}
