package sharding_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/cluster/sharding"
	"github.com/understudy-go/understudy/persistence/journal"
)

// What an entity with the longest id and name of its type stores has a persistence id that journals
// take, and so has what its shard remembers.
func TestTheLongestIDOfTheTypeWithTheLongestNameIsStored(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		name, id := strings.Repeat("ü", 127)+"t", strings.Repeat("é", 127)+"i"
		all := ""
		r, err := sharding.Start(s, name, func(e sharding.Entity) actor.Behavior[note] {
			all = e.PersistenceID()
			return notebook(e)
		}, sharding.Remember(), sharding.WithJournal(journal.NewMemory()))
		require.NoError(t, err)
		require.Equal(t, id+":", read(t, r.Ref(id)))
		require.NoError(t, journal.ValidateID(all))
		typ, of, ok := sharding.ParsePersistenceID(all)
		require.Equal(t, []any{name, id, true}, []any{typ, of, ok})
	})
}
