package eventsourced_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/persistence"
	"github.com/understudy-go/understudy/persistence/journal"
	"github.com/understudy-go/understudy/testkit"
	"github.com/understudy-go/understudy/testkit/eventsourced"
)

// A tally is a state of more than one field.
type tally struct{ Sum, Most int }

func init() { actor.RegisterType[tally]("eventsourced_test.tally") }

func tallied(t tally, a added) tally {
	if a.N == 13 {
		panic("unlucky")
	}
	return tally{t.Sum + a.N, max(t.Most, a.N)}
}

func tallying(id string, j persistence.Journal, onEvent func(tally, added) tally) actor.Behavior[add] {
	return behaviors.Setup(func(*actor.Context[add]) actor.Behavior[add] {
		return behaviors.EventSourced(id, j, tally{}, onEvent, func(_ *actor.Context[add], t tally, cmd add) persistence.Effect[added] {
			return persistence.ThenReply(persistence.Persist(added{cmd.n}), cmd.replyTo, t.Sum+cmd.n)
		}, persistence.SnapshotEvery(2, 2))
	})
}

// stored returns a journal in which an older build has stored numbers under ids.
func stored(t *testing.T, s *actor.System, of map[string][]int) persistence.Journal {
	t.Helper()
	j := journal.NewMemory()
	for id, numbers := range of {
		ref := actor.Spawn(s, tallying(id, j, tallied), "")
		for _, n := range numbers {
			_, err := actor.AskTimeout(context.Background(), ref, time.Minute, func(to actor.ActorRef[int]) add { return add{n, to} })
			require.NoError(t, err)
		}
		time.Sleep(time.Second) // for the snapshot
	}
	return j
}

// failures collects what would fail a test.
type failures struct {
	*testing.T
	all []string
}

func (f *failures) Errorf(format string, args ...any) {
	f.all = append(f.all, fmt.Sprintf(format, args...))
}

func TestANewBuildIsTriedOnAllThatIsStored(t *testing.T) {
	for name, c := range map[string]struct {
		onEvent func(tally, added) tally
		states  map[string]tally
		failed  []string
	}{
		"the same build": {tallied, map[string]tally{"till-1": {6, 3}, "till-2": {7, 7}}, nil},
		"another meaning": {func(t tally, a added) tally { return tally{t.Sum + 2*a.N, max(t.Most, a.N)} }, map[string]tally{"till-1": {9, 3}, "till-2": {14, 7}}, []string{
			`the state of "till-1" differs at "Sum": 9 with its snapshot, 12 by its events alone`,
		}},
		"a panic": {func(t tally, a added) tally {
			if a.N == 7 {
				panic("boom")
			}
			return tallied(t, a)
		}, map[string]tally{"till-1": {6, 3}}, []string{`look at "till-2": panic: boom`}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, seen := testkit.NewSystem(t, testkit.WithoutEncoding()), &failures{T: t}
				j := stored(t, s, map[string][]int{"till-1": {1, 2, 3}, "till-2": {7}, "other": {1}})
				states := eventsourced.Replay[tally](seen, s, j, func(id string) bool { return strings.HasPrefix(id, "till-") },
					func(id string, j persistence.Journal) actor.Behavior[add] { return tallying(id, j, c.onEvent) })
				require.Equal(t, c.states, states)
				require.Len(t, seen.all, len(c.failed))
				for i, text := range c.failed {
					require.Contains(t, seen.all[i], text)
				}
			})
		})
	}
}
