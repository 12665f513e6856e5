package sharding_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/cluster/sharding"
	"github.com/understudy-go/understudy/persistence/journal"
)

// A projection over the slices of a shard reads the events of its entities.
func TestTheShardOfAnEntityIsTheRangeOfItsSlice(t *testing.T) {
	s := actor.NewSystem("test")
	started := make(chan sharding.Entity, 1)
	for _, typ := range []string{"a", "notebook", "größe"} {
		r, err := sharding.Start(s, typ, func(e sharding.Entity) actor.Behavior[note] {
			started <- e
			return notebook(e)
		})
		require.NoError(t, err)
		for n := range 300 {
			r.Ref(fmt.Sprint("größe/", n)).Tell(note{Text: "x"})
			e := <-started
			require.Equal(t, journal.SliceOf(e.PersistenceID())/(journal.Slices/sharding.DefaultShards), e.Shard)
		}
	}
	require.NoError(t, s.Shutdown(t.Context()))
}
