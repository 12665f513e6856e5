package allot

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/cluster/internal/home"
)

// stop asks the machine to stop shards; the requests are numbered from 1.
func (r *rig) stop(shards ...int) {
	r.tokens++
	r.do(StopShards{Token: r.tokens, Type: "cart", Shards: shards})
}

func TestShardsThatAreStoppedStartAgainWithTheNextGeneration(t *testing.T) {
	r := newRig(t)
	r.join("a", "b")
	r.pass(time.Minute)
	r.busy["a"], r.busy["b"] = true, true
	before := r.m.Explain("cart", 2).Generation
	r.stop(2, 3)
	require.Empty(t, r.replies(), "they have not ended")
	require.Equal(t, "leaving", r.m.Explain("cart", 2).State)
	r.stop(3)
	r.busy = map[string]bool{}
	r.pass(5 * time.Second) // the requests are sent again
	require.Equal(t, []home.Reply{{Token: 1}, {Token: 2}}, r.replies())
	require.Equal(t, "running", r.m.Explain("cart", 2).State)
	require.Greater(t, r.m.Explain("cart", 2).Generation, before)

	r.stop()
	require.Equal(t, []home.Reply{{Token: 3}}, r.replies())
	r.stop(99)
	require.ErrorContains(t, r.replies()[0].Err, "knows no shard 99")
}

func TestAStoppedShardThatWaitsAfterAFailureStartsAtOnce(t *testing.T) {
	r := newRig(t)
	r.join("a")
	request := r.record().Request
	r.do(home.Received{Message: home.FromAgent{Node: "a", Incarnation: 1, Ended: &home.Ended{ID: request, Label: "cart/0", Error: "broken"}}})
	require.Equal(t, "homeless", r.m.Explain("cart", 0).State)
	r.stop(0)
	require.Len(t, r.replies(), 1)
	require.Equal(t, "running", r.m.Explain("cart", 0).State)
}

func TestARequestToStopAShardEndsWhenItsNodeIsGone(t *testing.T) {
	r := newRig(t)
	r.join("a", "b")
	r.pass(time.Minute)
	r.busy["b"] = true
	r.pin("b", 0)
	r.replies()
	r.stop(0)
	require.Empty(t, r.replies())
	r.nodes = r.nodes[:1]
	r.gone = []home.Gone{{Name: "b", Incarnation: 2, Until: r.now.Add(10 * time.Second)}}
	r.view()
	require.Empty(t, r.replies(), "it may still run there")
	r.pass(11 * time.Second)
	require.Equal(t, []home.Reply{{Token: 1}}, r.replies())
	require.Equal(t, "a", r.on(0))
}

func TestARequestToStopAShardIsRefusedByANodeThatHasALaterOne(t *testing.T) {
	r := newRig(t)
	r.join("a")
	r.busy["a"] = true
	r.stop(0, 1)
	request := r.record().Request
	r.do(home.Received{Message: home.FromAgent{Node: "a", Incarnation: 1, StopAck: &home.StopAck{ID: request, Label: "cart/0", Error: "it is later"}}})
	require.ErrorContains(t, r.replies()[0].Err, "cart/0 has not been stopped: it is later")
	r.busy = map[string]bool{}
	r.pass(5 * time.Second)
	require.Empty(t, r.replies(), "there is one answer")
}
