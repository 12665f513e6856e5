//go:build linux

package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/cluster/sharding"
	"github.com/understudy-go/understudy/persistence"
	"github.com/understudy-go/understudy/persistence/journal"
	"github.com/understudy-go/understudy/singleton"
)

// mutantEnv names the mistake that is planted in the nodes of a test.
const mutantEnv = "UNDERSTUDY_NEMESIS_MUTANT"

// mutants plant mistakes.
var mutants = map[string]func(){
	"reads from memory": func() { operate, visit = answerFromState, answerFromMemory },
	"no fence":          func() { storeOfLists = wrapped(func(l looseJournal) persistence.Journal { return fenceless{l} }) },
	"claims go back":    func() { storeOfLists = wrapped(func(l looseJournal) persistence.Journal { return unbounded{l} }) },
}

// answerFromState answers reads from the state of an instance that may have been replaced.
func answerFromState(ctx *actor.Context[Operate], r Registers, msg Operate) persistence.Effect[Operated] {
	if msg.Op.Verb != Get {
		return onOperate(ctx, r, msg)
	}
	answer := Answer{Value: r[msg.Op.Register], Generation: singleton.GenerationOf(ctx)}
	return persistence.ThenReply(persistence.None[Operated], msg.ReplyTo, answer)
}

// answerFromMemory answers reads from the memory of an entity whose shard may run elsewhere.
func answerFromMemory(e sharding.Entity, s Sum, msg Visit) persistence.Effect[Visited] {
	if msg.Entry != (Entry{}) {
		return onVisit(e, s, msg)
	}
	return persistence.ThenReply(persistence.None[Visited], msg.ReplyTo, Content{Sum: s, Generation: e.Generation})
}

// A looseJournal is a journal without its asynchronous methods.
type looseJournal struct {
	journal.Journal
	journal.SnapshotStore
}

func wrapped(mutate func(looseJournal) persistence.Journal) func(persistence.Journal) persistence.Journal {
	return func(j persistence.Journal) persistence.Journal {
		return mutate(looseJournal{j, j.(journal.SnapshotStore)})
	}
}

// fenceless is a journal without a fence: a writer that has been replaced claims again, and writes.
type fenceless struct{ looseJournal }

func (u fenceless) Append(ctx context.Context, all []journal.AppendRequest) []error {
	errs := u.Journal.Append(ctx, all)
	for i, err := range errs {
		if errors.Is(err, journal.ErrFenced) || errors.Is(err, journal.ErrConflict) {
			errs[i] = u.force(ctx, all[i])
		}
	}
	return errs
}

func (u fenceless) force(ctx context.Context, r journal.AppendRequest) error {
	claim, err := u.Claim(ctx, r.ID, journal.WriterID{}, journal.Bounds{})
	if err != nil {
		return err
	}
	r.Epoch, r.Prev, r.Records = claim.Epoch, claim.LastSeq, slices.Clone(r.Records)
	for i := range r.Records {
		r.Records[i].Epoch, r.Records[i].Seq = claim.Epoch, claim.LastSeq+uint64(i)+1
	}
	return u.Journal.Append(ctx, []journal.AppendRequest{r})[0]
}

// unbounded is a journal in which the claim of an old generation succeeds after one of a newer one.
type unbounded struct{ looseJournal }

func (u unbounded) Claim(ctx context.Context, id string, w journal.WriterID, b journal.Bounds) (journal.Claim, error) {
	return u.Journal.Claim(ctx, id, w, journal.Bounds{Least: b.Least})
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

// outdatedCalls is outdated for visits of the same list.
func outdatedCalls(calls []Call) (n int) {
	for _, c := range calls {
		if c.answered() && slices.ContainsFunc(calls, func(before Call) bool {
			return before.List == c.List && before.answered() && before.Returned < c.Invoked && c.Content.Generation.Less(before.Content.Generation)
		}) {
			n++
		}
	}
	return n
}

// withMutant lets nodes with a mistake run while the host is cut off, and stopped for long enough
// to be replaced: when it continues, it does not know that. It does so until enough returns true,
// or gives up. It returns what was violated.
func withMutant(t *testing.T, name string, enough func(*harness) bool) (violations []string) {
	t.Helper()
	needNetwork(t)
	t.Setenv(mutantEnv, name)
	var out bytes.Buffer
	h, err := newHarness(&out, options{nodes: 3, lists: 300, listsAnswer: 3 * time.Second, settle: 3 * time.Minute})
	require.NoError(t, err)
	h.crowd.patience = 200 * time.Millisecond // a visit that must cross the cut holds the next one up
	cut := Round{Stable: true, Faults: []Fault{
		{Kind: Partition, Targets: []int{0}, Host: true, For: 10 * time.Second},
		{Kind: Pause, Targets: []int{0}, Host: true, For: 8 * time.Second},
	}, Gap: 100 * time.Millisecond, Settle: true}
	err = h.torment(t.Context(), func(yield func(Round) bool) {
		for tries := 0; tries < 20 && !enough(h) && yield(cut); tries++ {
		}
	})
	defer func() { require.NoError(t, os.RemoveAll(h.dir)) }() // what is violated is kept
	t.Logf("\n%s", &out)
	require.ErrorIs(t, err, errViolated)
	return h.violations
}

// The first write that reaches a replaced singleton ends it, so writes are few, and the test tries
// several times.
func TestReadsWithoutTheJournalAreFoundOut(t *testing.T) {
	writes, appends := writingShare, appendShare
	writingShare, appendShare = 10, 40
	defer func() { writingShare, appendShare = writes, appends }()
	violations := withMutant(t, "reads from memory", func(h *harness) bool {
		return outdated(h.rec.done()) >= 2 && outdatedCalls(h.rec.called()) > 0
	})
	var registers, lists int
	for _, v := range violations {
		switch {
		case strings.Contains(v, "is not linearizable"):
			registers++
		case strings.Contains(v, "contradict the order of the journal"):
			lists++
		default:
			require.Fail(t, v)
		}
	}
	require.Positive(t, registers)
	require.Positive(t, lists)
}

func TestListsWithoutAFenceAreFoundOut(t *testing.T) {
	violations := withMutant(t, "no fence", func(h *harness) bool { return outdatedCalls(h.rec.called()) > 0 })
	for _, v := range violations {
		require.Regexp(t, `^list l\d+: `, v)
	}
}

func TestListsThatAReplacedNodeCanClaimAreFoundOut(t *testing.T) {
	violations := withMutant(t, "claims go back", func(h *harness) bool {
		// Only an entry shows which generation has written it.
		return outdatedCalls(slices.DeleteFunc(slices.Clone(h.rec.called()), Call.reads)) > 0
	})
	all := strings.Join(violations, "\n")
	require.Regexp(t, `list l\d+: .* was acknowledged by generation \d+, and written by \d+`, all)
	for _, v := range violations {
		require.Regexp(t, `^list l\d+: .* was acknowledged by generation|^list l\d+ has not answered`, v, "the claim disturbs the rightful node")
	}
}
