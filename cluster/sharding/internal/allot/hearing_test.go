package allot

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/cluster/internal/home"
)

// takeOver replaces the coordinator, and its node, by one to which nobody has said anything.
func (r *rig) takeOver() {
	r.nodes = r.nodes[1:]
	r.m = New(Config{Config: home.Config{Epoch: 2, AckTimeout: 2 * time.Second, Retry: time.Second, RetryMax: time.Minute}, FirstTerm: 2, HelloWait: time.Second, RebalanceEvery: 10 * time.Second}, r.stored)
	r.do(home.Recovered{})
	r.do(home.ViewChanged{Nodes: r.nodes})
}

// homelessOf returns the number of a shard without a home.
func (r *rig) homelessOf() int {
	for n := range rigShards {
		if r.m.Explain("cart", n).State == "homeless" {
			return n
		}
	}
	r.t.Fatal("all shards have homes")
	return 0
}

func TestANewCoordinatorGivesNoHomesBeforeAllMembersHaveSaidWhatTheyHost(t *testing.T) {
	r := newRig(t)
	r.join("a", "b", "c")
	require.Equal(t, map[string]int{"a": 3, "b": 3, "c": 2}, r.homes())
	r.takeOver()
	r.hello(r.nodes[0])
	require.Equal(t, map[string]int{"b": 3, "c": 2}, r.homes())
	require.Equal(t, "c has not said yet what it hosts", r.m.Explain("cart", r.homelessOf()).Why)
	r.hello(r.nodes[1])
	require.Equal(t, map[string]int{"b": 4, "c": 4}, r.homes())
}

func TestANewCoordinatorDoesNotWaitLongForAMemberThatSaysNothing(t *testing.T) {
	r := newRig(t)
	r.join("a", "b", "c")
	r.takeOver()
	r.hello(r.nodes[0])
	r.pass(time.Second)
	require.Equal(t, map[string]int{"b": 6, "c": 2}, r.homes())
}

func TestANewCoordinatorEndsNoDrainBeforeItKnowsWhoCanHost(t *testing.T) {
	r := newRig(t)
	r.join("a", "b", "c")
	r.takeOver()
	r.do(home.Drain{Token: 1, Node: home.IDOf(r.nodes[0])})
	r.hello(r.nodes[0])
	require.Empty(t, r.effects)
	r.hello(r.nodes[1])
	require.Equal(t, map[string]int{"c": 8}, r.homes())
	require.NotEmpty(t, r.effects, "the answer")
}
