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

// answerFromState is the planted mistake: reads are answered from the state, which is that
// of an instance that may have been replaced.
func answerFromState(ctx *actor.Context[Operate], r Registers, msg Operate) persistence.Effect[Operated] {
	if msg.Op.Verb != Get {
		return onOperate(ctx, r, msg)
	}
	answer := Answer{Value: r[msg.Op.Register], Generation: singleton.GenerationOf(ctx)}
	return persistence.ThenReply(persistence.None[Operated], msg.ReplyTo, answer)
}

// The nodes are processes of this test, so that the mistake is in them: a host that was
// stopped for long enough to be replaced answers from what it knows when it goes on, and
// porcupine says so.
func TestReadsWithoutTheJournalAreFoundOut(t *testing.T) {
	if testing.Short() {
		t.Skip("takes more than a minute")
	}
	if err := possible(); err != nil {
		t.Skip(err)
	}
	t.Setenv(staleEnv, "yes")
	var out bytes.Buffer
	h, err := newHarness(&out, options{nodes: 3, settle: 3 * time.Minute})
	require.NoError(t, err)
	stop := Round{Calm: true, Faults: []Fault{{Kind: Pause, Targets: []int{0}, Host: true, For: 10 * time.Second}}, Settle: true}
	err = h.torment(t.Context(), slices.Values(slices.Repeat([]Round{stop}, 4)))
	defer os.RemoveAll(h.dir) // what is violated is kept
	t.Logf("\n%s", &out)
	require.ErrorIs(t, err, errViolated)
	for _, v := range h.violations {
		require.Contains(t, v, "is not linearizable")
	}
}
