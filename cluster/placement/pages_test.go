package placement

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/cluster/internal/home"
	"github.com/understudy-go/understudy/internal/codec"
)

// readPages returns what a view looks like from afar, and in how many pages it was read.
func readPages(t *testing.T, v home.View, maxBytes int) (all home.View, pages int) {
	var node, after string
	for {
		p := viewPageOf(v, node, after, maxBytes)
		pages++
		packed, err := codec.Marshal(p.View)
		require.NoError(t, err)
		require.Less(t, len(packed), maxBytes+2000)
		if all = appendView(all, p.View); !p.More {
			return all, pages
		}
		require.Less(t, pages, 1000)
		node, after = endOfView(p.View)
	}
}

func TestAViewOfAnySizeIsReadInPages(t *testing.T) {
	var v home.View
	for i, actors := range []int{0, 2500, 1, 0, 700, 0} {
		n := caseNode(fmt.Sprint("n", i), "role")
		n.Incarnation, n.Meta = uint64(i), map[string]string{"zone": "a"}
		for j := range actors {
			n.Actors = append(n.Actors, fmt.Sprintf("%06d/%s", j, strings.Repeat("x", 248)))
		}
		v.Nodes = append(v.Nodes, n)
	}
	for maxBytes, atLeast := range map[int]int{2000: 350, 100_000: 8, 10 << 20: 1} {
		all, pages := readPages(t, v, maxBytes)
		require.Equal(t, v, all)
		require.GreaterOrEqual(t, pages, atLeast)
		require.LessOrEqual(t, pages, 2*atLeast)
	}
	_, pages := readPages(t, home.View{Nodes: v.Nodes[2:]}, 1)
	require.Equal(t, 1+1+700+1, pages, "at least one actor or one node comes with each")
	all, pages := readPages(t, home.View{}, 1000)
	require.Empty(t, all.Nodes)
	require.Equal(t, 1, pages)
}

func TestAViewThatChangesBetweenTwoPagesShowsInPart(t *testing.T) {
	a, b := caseNode("a"), caseNode("b")
	a.Incarnation, a.Actors = 1, []string{"1", "2", "3"}
	first := viewPageOf(home.View{Nodes: []home.Node{a, b}}, "", "", 1)
	require.True(t, first.More)
	require.Equal(t, []string{"1"}, first.View.Nodes[0].Actors)
	a.Incarnation, a.Actors = 2, []string{"7"}
	c := caseNode("c")
	node, after := endOfView(first.View)
	second := viewPageOf(home.View{Nodes: []home.Node{a, b, c}}, node, after, 1000)
	all := appendView(first.View, second.View)
	require.Len(t, all.Nodes, 3)
	require.Equal(t, []string{"1"}, all.Nodes[0].Actors, "the process that was there")
	require.Equal(t, uint64(1), all.Nodes[0].Incarnation)
}

// A message has no field that gets lost on the way.
func TestAPageOfAViewHasOnlyWhatIsSent(t *testing.T) {
	r := newSpecsRig(t, "a")
	r.placed(specOf("x"))
	r.holdStops = true
	r.remove("x")
	n, _ := r.m.View().Node("a")
	require.False(t, home.Keeps(n, "x"), "it is being stopped")
	page := viewPageOf(r.m.View(), "", "", 1000)
	data, err := codec.Marshal(page.View)
	require.NoError(t, err)
	var read home.View
	require.NoError(t, codec.Unmarshal(data, &read))
	require.Equal(t, page.View, read)
}
