//go:build linux

package main

import (
	"bytes"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/persistence"
	"github.com/understudy-go/understudy/singleton"
)

// answerFromState is the planted mistake: it answers reads from the state of an instance that may
// have been replaced.
func answerFromState(ctx *actor.Context[Operate], r Registers, msg Operate) persistence.Effect[Operated] {
	if msg.Op.Verb != Get {
		return onOperate(ctx, r, msg)
	}
	answer := Answer{Value: r[msg.Op.Register], Generation: singleton.GenerationOf(ctx)}
	return persistence.ThenReply(persistence.None[Operated], msg.ReplyTo, answer)
}

// outdated returns how many operations were answered by an instance that had been replaced:
// another of a higher generation had answered before they were sent.
func outdated(operations []Operation) (n int) {
	for _, o := range operations {
		if o.answered() && slices.ContainsFunc(operations, func(before Operation) bool {
			return before.answered() && before.Returned < o.Invoked && o.Answer.Generation.Less(before.Answer.Generation)
		}) {
			n++
		}
	}
	return n
}

// The nodes are processes of this test, so that they contain the mistake. A host is cut off, and
// stopped for long enough to be replaced. When it continues it answers from its old state, and
// porcupine must find that. The first write that reaches it ends it, so writes are few, and the
// test tries several times.
func TestReadsWithoutTheJournalAreFoundOut(t *testing.T) {
	needNetwork(t)
	t.Setenv(staleEnv, "yes")
	before := writingShare
	writingShare = 10
	defer func() { writingShare = before }()
	var out bytes.Buffer
	h, err := newHarness(&out, options{nodes: 3, settle: 3 * time.Minute})
	require.NoError(t, err)
	cut := Round{Stable: true, Faults: []Fault{
		{Kind: Partition, Targets: []int{0}, Host: true, For: 10 * time.Second},
		{Kind: Pause, Targets: []int{0}, Host: true, For: 8 * time.Second},
	}, Gap: 100 * time.Millisecond, Settle: true}
	err = h.torment(t.Context(), func(yield func(Round) bool) {
		for tries := 0; tries < 20 && outdated(h.rec.done()) < 2 && yield(cut); tries++ {
		}
	})
	defer func() { require.NoError(t, os.RemoveAll(h.dir)) }() // what is violated is kept
	t.Logf("\n%s", &out)
	require.ErrorIs(t, err, errViolated)
	for _, v := range h.violations {
		require.Contains(t, v, "is not linearizable")
	}
}
