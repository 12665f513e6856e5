package sharding_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/cluster/sharding"
	"github.com/understudy-go/understudy/persistence"
	"github.com/understudy-go/understudy/persistence/journal"
	"github.com/understudy-go/understudy/testkit"
)

// A herd is a type of remembered entities.
type herd struct {
	name   string
	shards int
}

func (h herd) start(t *testing.T, s *actor.System, factory func(sharding.Entity) actor.Behavior[note]) *sharding.Region[note] {
	t.Helper()
	r, err := sharding.Start(s, h.name, factory, sharding.Remember(), sharding.Shards(h.shards))
	require.NoError(t, err)
	return r
}

// remember lets n entities of each type be remembered.
func remember(t *testing.T, ids persistence.Journal, n map[herd]int) {
	t.Helper()
	s := testkit.NewSystem(t, persistence.WithJournal(ids))
	for h, n := range n {
		r := h.start(t, s, newWard().patient)
		for id := range n {
			r.Ref(fmt.Sprint(id)).Tell(note{})
		}
	}
	time.Sleep(time.Minute)
	require.NoError(t, s.Shutdown(t.Context()))
}

func TestANodeStartsTheRememberedEntitiesOfAllShardsAtOnePaceFairlyAmongTypes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ids := journal.NewMemory()
		many, few := herd{"many", 64}, herd{"few", 8}
		remember(t, ids, map[herd]int{many: 1500, few: 20})

		s, manyRun, fewRun := testkit.NewSystem(t, persistence.WithJournal(ids)), newWard(), newWard()
		many.start(t, s, manyRun.patient)
		few.start(t, s, fewRun.patient)
		for tick := range 40 {
			synctest.Wait()
			require.LessOrEqual(t, len(manyRun.list())+len(fewRun.list()), 50*(tick+1))
			time.Sleep(100 * time.Millisecond)
			if tick == 1 {
				require.Len(t, fewRun.list(), 20)
			}
		}
		require.Len(t, manyRun.list(), 1500)
	})
}

// A sluggish journal takes a second for the claim with which a recovery begins.
type sluggish struct{ persistence.Journal }

func (j sluggish) Claim(ctx context.Context, id string, w journal.WriterID, b journal.Bounds) (journal.Claim, error) {
	time.Sleep(time.Second)
	return j.Journal.Claim(ctx, id, w, b)
}

func (j sluggish) entity(e sharding.Entity) actor.Behavior[note] {
	return behaviors.EventSourced(e.PersistenceID(), j, 0, func(n int, _ noted) int { return n },
		func(_ *actor.Context[note], _ int, n note) persistence.Effect[noted] {
			return persistence.Reply[noted](n.ReplyTo, e.ID)
		})
}

func TestAnEntityThatAMessageWakesDoesNotWaitForTheHerd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ids, many := journal.NewMemory(), herd{"many", 64}
		remember(t, ids, map[herd]int{many: 1000})

		s, store := testkit.NewSystem(t, persistence.WithJournal(ids)), sluggish{journal.NewMemory()}
		persistence.LimitRecoveries(s, 10)
		herd := many.start(t, s, store.entity)
		other, err := sharding.Start(s, "other", store.entity)
		require.NoError(t, err)
		time.Sleep(5 * time.Second)

		begun := time.Now()
		read(t, other.Ref("a"))
		require.LessOrEqual(t, time.Since(begun), 2*time.Second, "a recovery of another type, and its own")
		for _, id := range []int{0, 500, 999} {
			begun = time.Now()
			read(t, herd.Ref(fmt.Sprint(id)))
			require.LessOrEqual(t, time.Since(begun), 6*time.Second, "those that have been started, 50 at once")
		}
		time.Sleep(2 * time.Minute)
	})
}
