package generation_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/understudy-go/understudy/cluster/placement/generation"
	"github.com/understudy-go/understudy/persistence/memory"
)

// Two nodes that share a journal, here one in memory, claim from one sequence.
func ExampleNewJournal() {
	ctx, journal := context.Background(), memory.New()
	a, b := generation.NewJournal(journal), generation.NewJournal(journal)

	first, _ := a.ClaimTerm(ctx, "report", "node-a")
	second, _ := b.ClaimTerm(ctx, "report", "node-b")
	again, _ := a.ClaimSeq(ctx, "report")
	fmt.Println(first, second, again)

	owner, _, _ := a.Current(ctx, "report")
	fmt.Println(owner.Owner, owner.Generation)
	// Output:
	// 1.0 2.0 2.1
	// node-b 2.1
}

// What is forgotten has no owner any more, and its terms go on.
func ExampleNewMemory() {
	ctx, source := context.Background(), generation.NewMemory()
	first, _ := source.ClaimTerm(ctx, "report", "node-a")
	_ = source.Forget(ctx, "report") // it fails only when ctx has ended
	_, err := source.ClaimSeq(ctx, "report")
	fmt.Println(first, errors.Is(err, generation.ErrNeverClaimed))

	next, _ := source.ClaimTerm(ctx, "report", "node-b")
	fmt.Println(next)
	// Output:
	// 1.0 true
	// 2.0
}
