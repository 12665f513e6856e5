package postgres_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/pgtest"
	"github.com/understudy-go/understudy/persistence/journal"
)

const manyClaims = 200

// claimMany makes claims at the same time.
func claimMany(t *testing.T, j journal.Journal, bounds func(i int) journal.Bounds) (claims []journal.Claim, errs []error) {
	claims, errs = make([]journal.Claim, manyClaims), make([]error, manyClaims)
	var all sync.WaitGroup
	for i := range manyClaims {
		all.Go(func() { claims[i], errs[i] = j.Claim(t.Context(), fmt.Sprint(i), journal.WriterID{1}, bounds(i)) })
	}
	all.Wait()
	return claims, errs
}

func unbounded(int) journal.Bounds { return journal.Bounds{} }

func TestClaimsThatShareACommitAreAsThoseAlone(t *testing.T) {
	j := open(t, pgtest.Shared(t))
	claims, errs := claimMany(t, j, unbounded)
	for i, c := range claims {
		require.NoError(t, errs[i])
		require.Equal(t, journal.Claim{Epoch: 1, TimersKnown: true}, c)
		req := journal.AppendRequest{ID: fmt.Sprint(i), Epoch: 1, Records: []journal.Record{{Seq: 1, Epoch: 1, Type: "e"}}}
		if i%2 == 0 {
			req.Timers = []journal.TimerChange{{Timer: journal.Timer{Key: "k", Due: time.Unix(1, 0), Type: "t"}}}
		}
		require.NoError(t, j.Append(t.Context(), []journal.AppendRequest{req})[0])
	}
	claims, errs = claimMany(t, j, func(i int) journal.Bounds { return []journal.Bounds{{}, {Least: 5 << 32}, {Below: 2}}[i%3] })
	for i, c := range claims {
		if i%3 == 2 {
			require.ErrorIs(t, errs[i], journal.ErrInvalid, "no epoch is left")
			continue
		}
		require.NoError(t, errs[i])
		require.Len(t, c.Timers, 1-i%2)
		c.Timers = nil
		require.Equal(t, journal.Claim{Epoch: []uint64{2, 5 << 32}[i%3], LastSeq: 1, TimersKnown: true}, c)
	}
}

func TestFirstClaimsOfTwoProcessesAreOneAfterTheOther(t *testing.T) {
	s := pgtest.Shared(t)
	one := open(t, s)
	another := openHandle(t, s.URL(), one.schema)
	var claims [2][]journal.Claim
	var errs [2][]error
	var both sync.WaitGroup
	for i, j := range []journal.Journal{one, another} {
		both.Go(func() { claims[i], errs[i] = claimMany(t, j, unbounded) })
	}
	both.Wait()
	for i := range manyClaims {
		require.NoError(t, errs[0][i])
		require.NoError(t, errs[1][i])
		require.ElementsMatch(t, []uint64{1, 2}, []uint64{claims[0][i].Epoch, claims[1][i].Epoch})
	}
}
