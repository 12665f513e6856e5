//go:build !quick

package clustertest_test

import (
	"errors"
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/actor/delivery"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/cluster"
	"github.com/understudy-go/understudy/cluster/placement"
	"github.com/understudy-go/understudy/persistence"
	"github.com/understudy-go/understudy/remote"
	"github.com/understudy-go/understudy/singleton"
	"github.com/understudy-go/understudy/testkit"
	"github.com/understudy-go/understudy/testkit/clustertest"
)

var errSoldOut = errors.New("sold out")

// A shortage is an error with fields.
type shortage struct{ Missing int }

func (s shortage) Error() string { return fmt.Sprintf("%d are missing", s.Missing) }

// Purchase requests an amount, or the sentinel with the number Sentinel.
type Purchase struct {
	Number   int
	Sentinel int
	ReplyTo  actor.ActorRef[actor.Result[int]]
}

func init() {
	actor.RegisterType[Purchase]("clustertest.purchase")
	actor.RegisterType[shortage]("clustertest.shortage")
	actor.RegisterError("clustertest.sold-out", errSoldOut)
}

// sentinels are the named errors of the packages, with which an actor can reply.
var sentinels = []error{
	errSoldOut,
	persistence.ErrFenced, persistence.ErrConflict, persistence.ErrTooLarge, persistence.ErrInvalid, persistence.ErrCorrupt,
	persistence.ErrUnavailable, persistence.ErrFull, persistence.ErrUnknown, persistence.ErrClosed,
	singleton.ErrUnavailable, singleton.ErrBufferFull, singleton.ErrMismatch, singleton.ErrManagerStopped, singleton.ErrFinished,
	singleton.ErrLeaseLost, singleton.ErrGivenUp, singleton.ErrFenced,
	delivery.ErrBufferFull, delivery.ErrGivenUp, delivery.ErrTooLarge, delivery.ErrTooMany, delivery.ErrNotStorable, delivery.ErrPerhapsStored,
	remote.ErrClosed, remote.ErrFrame, remote.ErrTooLarge, remote.ErrOutboxFull, remote.ErrInDoubt, remote.ErrNotAuthenticated,
	cluster.ErrNotMember, cluster.ErrEnded,
	placement.ErrNotLeader, placement.ErrNoEligibleNodes, placement.ErrExists, placement.ErrNotFound, placement.ErrInvalid,
	placement.ErrStrategy, placement.ErrInProgress, placement.ErrNoOwner, placement.ErrSource, placement.ErrUnavailable, placement.ErrBufferFull,
}

func TestTheErrorOfAResultIsTheSameOnTheNodeThatAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := clustertest.Start(t, 2)
		shop := actor.Spawn(c.Node("n1"), behaviors.Receive(func(_ *actor.Context[Purchase], p Purchase) actor.Behavior[Purchase] {
			err := fmt.Errorf("purchase of %d: %w", p.Number, sentinels[p.Sentinel])
			p.ReplyTo.Tell(actor.Result[int]{Err: errors.Join(err, shortage{p.Number})})
			return behaviors.Same
		}), "shop")
		far := actor.Resolve[Purchase](c.Node("n2").System, shop.String())
		for i, sentinel := range sentinels {
			err := testkit.Ask(t.Context(), t, far, func(r actor.ActorRef[actor.Result[int]]) Purchase { return Purchase{7, i, r} }).Err
			require.ErrorIs(t, err, sentinel)
			require.EqualError(t, err, "purchase of 7: "+sentinel.Error()+"\n7 are missing")
			var missing shortage
			require.ErrorAs(t, err, &missing)
			require.Equal(t, 7, missing.Missing)
			require.Equal(t, errors.Is(sentinel, errSoldOut), errors.Is(err, errSoldOut))
		}
	})
}
