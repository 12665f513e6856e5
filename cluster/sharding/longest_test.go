package sharding_test

import (
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/cluster/sharding"
	"github.com/understudy-go/understudy/persistence"
	"github.com/understudy-go/understudy/persistence/journal"
	"github.com/understudy-go/understudy/testkit"
)

// What an entity with the longest id and name of its type stores has a persistence id that journals
// take, and so has what its shard remembers.
func TestTheLongestIDOfTheTypeWithTheLongestNameIsStored(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := testkit.NewSystem(t, persistence.WithJournal(journal.NewMemory()))
		name, id := strings.Repeat("ü", 127)+"t", strings.Repeat("é", 127)+"i"
		all := ""
		r, err := sharding.Start(s, name, func(e sharding.Entity) actor.Behavior[note] {
			all = e.PersistenceID()
			return notebook(e)
		}, sharding.Remember())
		require.NoError(t, err)
		require.Equal(t, id+":", read(t, r.Ref(id)))
		require.NoError(t, journal.ValidateID(all))
		typ, of, ok := sharding.ParsePersistenceID(all)
		require.Equal(t, []any{name, id, true}, []any{typ, of, ok})
	})
}
