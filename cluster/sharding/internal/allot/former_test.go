package allot

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/cluster/internal/home"
	"github.com/understudy-go/understudy/remote"
)

func TestTheNextHomeHearsOfTheNodesSinceTheLastThatHasBegun(t *testing.T) {
	r := newRig(t)
	r.join("a", "b", "c")
	r.pass(time.Minute)
	was := r.on(0)
	for _, next := range []string{"c", "a", "b", "c"} {
		if next == was {
			continue
		}
		r.pin(next, 0)
		require.Equal(t, next, r.on(0))
		former := ParseState(r.lastStart.State).Former
		require.Len(t, former, 1, "the others have had all that was left")
		require.Equal(t, was, former[0].Address)
		was = next
	}
	sh := r.m.shards.kinds["cart"].shards[0]
	require.Empty(t, sh.former, "it has begun")
	r.m.shards.free(sh)
	for range 2 { // it ends there before it has begun
		sh.Record = home.Record{Node: "d", Address: "d"}
		r.m.shards.free(sh)
	}
	require.Equal(t, []remote.NodeID{sh.former[0], {Address: "d"}}, ParseState(sh.state()).Former)
}
