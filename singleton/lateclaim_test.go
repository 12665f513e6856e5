package singleton_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/persistence/journal"
	"github.com/understudy-go/understudy/singleton"
	"github.com/understudy-go/understudy/testkit"
)

// A slowJournal delays one claim, as a database does that a node can hardly reach.
type slowJournal struct {
	*journal.Memory
	slow  atomic.Bool   // the next claim waits
	claim chan struct{} // closed: the claim that waits goes on
}

func (s *slowJournal) Claim(ctx context.Context, id string, w journal.WriterID, b journal.Bounds) (journal.Claim, error) {
	if s.slow.Swap(false) {
		<-s.claim
		ctx = context.WithoutCancel(ctx) // the database has the request
	}
	return s.Memory.Claim(ctx, id, w, b)
}

// The first claim of an instance reaches the journal after another instance has replaced it. It is
// refused, and the newer instance never notices.
func TestALateFirstClaimDoesNotFenceOffTheNextInstance(t *testing.T) {
	inCluster(t, []string{"a", "b"}, func(t *testing.T, c *cluster) {
		j := &slowJournal{Memory: journal.NewMemory(), claim: make(chan struct{})}
		j.slow.Store(true)
		refs := onAll(c, diary("diary", j))
		settle()
		c.net.losing(cut("a"))
		c.showTo(c.nodes["a"], c.nodes["a"], c.nodes["b"])
		c.nodes["a"].behind = true // it does not learn that it was removed
		c.downed(c.nodes["a"])
		time.Sleep(2 * margin)
		p := testkit.NewProbe[string](t, c.nodes["b"].System)
		stopped := testkit.NewProbe[singleton.Stopped](t, c.nodes["b"].System)
		actor.Subscribe(c.nodes["b"].System, stopped.Ref())
		refs["b"].Tell(msg{"write", p.Ref()})
		p.Expect("2.1")
		close(j.claim)
		time.Sleep(time.Second)
		refs["b"].Tell(msg{"write", p.Ref()})
		p.Expect("2.1")
		stopped.ExpectNone(time.Second)
		require.Equal(t, 2, requireAgreement(t, j, "diary"))
	})
}

// A cluster that starts from nothing counts terms from 1 again, while the journal is further. That
// is no failure: the instance starts at once under a term above the one of the journal.
func TestAJournalThatIsAheadIsNoFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := journal.NewMemory()
		_, err := j.Claim(t.Context(), "diary", journal.WriterID{}, journal.Bounds{Least: 7 << 32})
		require.NoError(t, err)
		core, logs := observer.New(zap.WarnLevel)
		s := testkit.NewSystem(t, testkit.WithoutEncoding(), actor.WithLogger(zap.New(core)))
		p := testkit.NewProbe[string](t, s)
		starts := testkit.NewProbe[singleton.Started](t, s)
		actor.Subscribe(s, starts.Ref())
		begin := time.Now()
		ref := actor.Spawn(s, behaviors.Singleton(diary("diary", j)), "one")
		ref.Tell(msg{"write", p.Ref()})
		p.Expect("8.1")
		require.Zero(t, time.Since(begin))
		require.Equal(t, singleton.Generation{Term: 8, Seq: 1}, starts.Receive().Generation)
		starts.ExpectNone(time.Second)
		status, _ := singleton.StatusOf(s, "one")
		require.Zero(t, status.Failures)
		require.Equal(t, uint64(1), status.Starts)
		require.Empty(t, logs.All())
	})
}
