package understudytest

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/cluster"
	"github.com/understudy-go/understudy/cmd/understudy/internal/cli"
	"github.com/understudy-go/understudy/cmd/understudy/internal/report"
	"github.com/understudy-go/understudy/cmd/understudy/internal/status"
	"github.com/understudy-go/understudy/persistence/journal"
	"github.com/understudy-go/understudy/persistence/projection"
)

// A price is an event that cannot be decoded while prices are sealed.
type price struct{ cents byte }

var sealed atomic.Bool

func (p price) MarshalCBOR() ([]byte, error) { return []byte{p.cents}, nil }

func (p *price) UnmarshalCBOR(data []byte) error {
	if sealed.Load() {
		return errors.New("the key store is away")
	}
	p.cents = data[0]
	return nil
}

func init() { actor.RegisterType[price]("understudytest.price") }

func projectionOf(j *journal.Memory) *projection.Projection[price] {
	return projection.New("prices", j, journal.Query{}, projection.AtLeastOnce(&projection.MemoryOffsets{},
		func(context.Context, projection.Event[price]) error { return nil }))
}

func TestWhatAProjectionHoldsBackIsListedAndTriedAgain(t *testing.T) {
	nodes := start(t, []string{"anna", "bert"}, cluster.AllowActions(allow))
	anna, both := nodes[0], nodes[0].url+","+nodes[1].url
	require.Equal(t, result{0, "No projection runs on the nodes that were asked.\n", ""}, anna.run(t, "projections"))
	j := journal.NewMemory()
	for _, id := range []string{"apples", "pears"} {
		claim, err := j.Claim(t.Context(), id, journal.WriterID{}, journal.Bounds{})
		require.NoError(t, err)
		one := journal.Record{Seq: 1, Epoch: claim.Epoch, Time: time.Now(), Type: "understudytest.price", Payload: []byte{7}}
		two := one
		two.Seq = 2
		require.NoError(t, j.Append(t.Context(), []journal.AppendRequest{{ID: id, Epoch: claim.Epoch, Records: []journal.Record{one, two}}})[0])
	}
	sealed.Store(true)
	t.Cleanup(func() { sealed.Store(false) })
	actor.Spawn(anna.Node, projectionOf(j).Behavior(), "prices")
	r := anna.eventually(t, "apples", "projections", "prices")
	require.Regexp(t, `\nprices +anna +\S+ +0 +0 +0 +2`, "\n"+r.out)
	require.Regexp(t, `\npears +prices +1 +2 +.*the key store is away`, r.out)
	all := asJSON[report.Projections](t, runWith(t, cli.Env{}, "projections", "-json", "-url", both))
	require.Len(t, all.Projections, 1)
	require.Equal(t, "pears", all.Projections[0].HeldIDs[1].ID)

	require.Contains(t, anna.run(t, "retry", "orders").errors, `no node that was asked runs a projection "orders"`)
	require.Contains(t, nodes[1].run(t, "retry", "prices").errors, `no node that was asked runs a projection "prices"`)
	require.Equal(t, result{1, "prices on anna still holds the events of 2 ids back; understudy projections says why\n", ""}, anna.run(t, "retry", "prices"))
	sealed.Store(false)
	require.Equal(t, result{0, "prices on anna holds nothing back any more\n", ""}, runWith(t, cli.Env{}, "retry", "prices", "-url", both))
	r = anna.run(t, "projections")
	require.NotContains(t, r.out, "HELD BACK")
	require.Equal(t, 2, strings.Count(r.out, "\n"))
	require.Equal(t, []status.HeldID{}, asJSON[report.Projections](t, anna.run(t, "projections", "-json")).Projections[0].HeldIDs)
}
