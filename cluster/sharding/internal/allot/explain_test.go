package allot

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/cluster/internal/home"
	"github.com/understudy-go/understudy/cluster/sharding/internal/table"
)

func TestTheMachineSaysWhyAShardDoesNotRunOrMove(t *testing.T) {
	now := time.Unix(0, 0).UTC()
	m := New(Config{Config: home.Config{Epoch: 1, AckTimeout: 2 * time.Second, Retry: 5 * time.Second, RetryMax: time.Minute}, FirstTerm: 1, RebalanceEvery: 10 * time.Second}, home.Ledger{})
	var asked home.StartRequest
	step := func(in home.Input) {
		_, effects := m.Step(in, now)
		for _, e := range effects {
			if s, ok := e.(home.Send); ok {
				if r, ok := s.Msg.(home.StartRequest); ok {
					asked = r
				}
			}
		}
	}
	why := func() string { return m.Explain("cart", 0).Why }
	view := func(reachable, up bool) home.ViewChanged {
		return home.ViewChanged{Nodes: []home.Node{
			{Name: "a", Address: "a:1", Incarnation: 1, Up: true, Reachable: true},
			{Name: "b", Address: "b:1", Incarnation: 2, Up: up, Reachable: reachable},
		}}
	}
	answer := func(f home.FromAgent) { step(home.Received{Message: f}) }
	of := func(hosts bool) Hello {
		return Hello{Node: home.NodeID{Name: "a", Incarnation: 1}, Offers: []Offer{{Type: table.Type{Name: "cart", Shards: 1, Message: "m"}, Hosts: hosts}}}
	}

	step(home.Recovered{})
	require.Contains(t, why(), `knows no shard 0 of type "cart"`)
	step(view(true, true))
	step(of(false))
	require.Equal(t, "the coordinator does not know yet what all nodes run", why())
	for _, n := range []home.FromAgent{{Node: "a", Incarnation: 1}, {Node: "b", Incarnation: 2}} {
		n.Report = &home.Report{Epoch: 1}
		answer(n)
	}
	require.Equal(t, "no member that is up hosts the type", why())
	require.Equal(t, []Homeless{{Type: "cart", Why: "no member that is up hosts the type", Shards: []int{0}}}, m.Homeless())

	step(of(true))
	require.Equal(t, "spawning on a since 1970-01-01T00:00:00Z", why())
	require.Equal(t, "starting", m.Explain("cart", 0).State)
	answer(home.FromAgent{Node: "a", Incarnation: 1, StartAck: &home.StartAck{ID: asked.ID, Label: "cart/0", Error: "no disk"}})
	require.Equal(t, "it has failed (no disk), and is started again at 1970-01-01T00:00:05Z", why())
	require.Equal(t, 1, m.Explain("cart", 0).Failures)

	now = now.Add(5 * time.Second)
	step(home.Tick{})
	answer(home.FromAgent{Node: "a", Incarnation: 1, StartAck: &home.StartAck{ID: asked.ID, Label: "cart/0"}})
	running := m.Explain("cart", 0)
	require.Equal(t, "running", running.State)
	require.Equal(t, "a", running.Node)
	require.Empty(t, running.Why)
	require.Empty(t, m.Homeless())

	step(view(false, true))
	now = now.Add(10 * time.Second)
	step(home.Tick{})
	require.Equal(t, "no shard is moved, because b is unreachable", why())
	step(view(true, false))
	now = now.Add(10 * time.Second)
	step(home.Tick{})
	require.Equal(t, "no shard is moved, because b is not up", why())
}
