package roster_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/cluster/sharding/internal/roster"
)

func TestAnEntityIsRememberedWhenThatIsWritten(t *testing.T) {
	var r roster.Roster
	require.Empty(t, r.Read(nil))
	require.False(t, r.Remember("a"))
	require.False(t, r.Has("a"))
	b, ok := r.Next()
	require.True(t, ok)
	require.Equal(t, roster.Batch{Added: []string{"a"}}, b)
	require.False(t, r.Has("a"))
	require.Equal(t, []string{"a"}, r.Written())
	require.True(t, r.Has("a"))
	require.True(t, r.Remember("a"))
	require.False(t, r.Busy())
}

func TestChangesWhileABatchIsWrittenAreOneBatch(t *testing.T) {
	var r roster.Roster
	r.Read(nil)
	r.Remember("first")
	_, ok := r.Next()
	require.True(t, ok)
	for n := range 1000 {
		id := fmt.Sprintf("e%03d", n)
		r.Remember(id)
		if n%2 == 0 {
			r.Forget(id)
		}
	}
	_, ok = r.Next()
	require.False(t, ok, "one batch at a time")
	require.Equal(t, []string{"first"}, r.Written())
	b, ok := r.Next()
	require.True(t, ok)
	require.Len(t, b.Added, 500)
	require.Empty(t, b.Removed)
}

func TestWhatIsWantedLastWins(t *testing.T) {
	var r roster.Roster
	r.Read([]string{"a"})
	r.Forget("a")
	b, _ := r.Next()
	require.Equal(t, []string{"a"}, b.Removed)
	require.False(t, r.Remember("a"), "it is being removed")
	require.Empty(t, r.Written())
	require.True(t, r.Busy())
	b, _ = r.Next()
	require.Equal(t, []string{"a"}, b.Added)
	r.Forget("a")
	r.Remember("a")
	require.Equal(t, []string{"a"}, r.Written())
	require.False(t, r.Busy())
}

// The store may lose a batch, or write it and then fail. In the end it has what is wanted, and each
// entity that is wanted has been reported since it was wanted.
func TestTheStoreHasInTheEndWhatIsWanted(t *testing.T) {
	for seed := range uint64(300) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		var r roster.Roster
		store, wanted, reported := map[string]bool{}, map[string]bool{}, map[string]bool{}
		all := func() (ids []string) {
			for id := range store {
				ids = append(ids, id)
			}
			return ids
		}
		report := func(ids []string) {
			for _, id := range ids {
				require.True(t, wanted[id], "seed %d: %s is reported, and not wanted", seed, id)
				require.True(t, store[id], "seed %d: %s is reported, and not stored", seed, id)
				reported[id] = true
			}
		}
		apply := func(b roster.Batch) {
			for _, id := range b.Added {
				store[id] = true
			}
			for _, id := range b.Removed {
				delete(store, id)
			}
		}
		report(r.Read(all()))
		for range 100 {
			id := fmt.Sprint(rnd.IntN(6))
			switch rnd.IntN(4) {
			case 0, 1:
				wanted[id] = true
				reported[id] = r.Remember(id) || reported[id] && r.Has(id)
			case 2:
				wanted[id], reported[id] = false, false
				r.Forget(id)
			case 3:
				if b, ok := r.Next(); ok {
					stored, fails := rnd.IntN(3) > 0, rnd.IntN(3) == 0
					if stored || !fails {
						apply(b)
					}
					if fails {
						report(r.Read(all()))
					} else {
						report(r.Written())
					}
				}
			}
		}
		for b, ok := r.Next(); ok; b, ok = r.Next() {
			apply(b)
			report(r.Written())
		}
		for id, is := range wanted {
			require.Equal(t, is, store[id], "seed %d: %s", seed, id)
			require.Equal(t, is, reported[id], "seed %d: %s", seed, id)
			require.Equal(t, is, r.Has(id), "seed %d: %s", seed, id)
		}
	}
}
