//go:build linux

package main

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/persistence"
	"github.com/understudy-go/understudy/persistence/journal"
	"github.com/understudy-go/understudy/persistence/workflow"
	"github.com/understudy-go/understudy/persistence/workflow/outside"
	"github.com/understudy-go/understudy/testkit"
)

// A desk hands the requests of a clerk to the agency without a network.
type desk struct{ http.Handler }

func (d desk) RoundTrip(r *http.Request) (*http.Response, error) {
	rec := httptest.NewRecorder()
	d.ServeHTTP(rec, r)
	return rec.Result(), nil
}

// recordOf runs a trip in virtual time, and returns what is known of it.
func recordOf(t *testing.T, trip Trip, then func(ctx context.Context, trips *workflow.Type[Trip, Bill], j *Journey)) (record tripRecord) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "n1.1.trips")
		d, err := openDiary(path, "n1.1")
		require.NoError(t, err)
		j, a := journal.NewMemory(), newAgency()
		c := &clerk{d, &http.Client{Transport: outside.Transport{Base: desk{a}}}}
		trips, err := workflow.Start(testkit.NewSystem(t, persistence.WithJournal(j)), tripType, c.travel)
		require.NoError(t, err)
		made := Journey{ID: "t1", Trip: trip}
		request := func(r TripRequest) TripReply {
			r.ID, r.Patience = "t1", time.Hour
			said, err := askTrip(t.Context(), trips, r)
			require.NoError(t, err)
			return said
		}
		require.Equal(t, TripReply{State: tripNotFound}, request(TripRequest{}))
		require.Equal(t, TripReply{}, request(TripRequest{Begin: &trip}))
		made.Begun = true
		then(t.Context(), trips, &made)
		made.end(request(TripRequest{}))
		require.Equal(t, TripReply{State: tripEnded}, request(TripRequest{Call: "too late"}))
		facts, err := readFacts(t.Context(), j, "t1")
		require.NoError(t, err)
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		effects, _ := a.done()
		record = newTripRecord(made, facts, readDiary(bytes.NewReader(text)), effectsOf(effects)["trip|t1"])
	})
	return record
}

// winding is a trip with all that a trip may have.
var winding = Trip{Stages: []Stage{
	{Naps: []time.Duration{0}, Call: sec(60)},
	{Naps: []time.Duration{sec(20), 0}},
	{Naps: []time.Duration{sec(5)}, Call: sec(3)},
}}

func TestARunOfAWorkflowHasNoContradictions(t *testing.T) {
	calls := func(ctx context.Context, trips *workflow.Type[Trip, Bill], j *Journey) {
		_, err := askTrip(ctx, trips, TripRequest{ID: j.ID, Call: "one", Patience: time.Hour})
		require.NoError(t, err)
		j.Calls = []Sent{{"one", 1, 2}}
	}
	done := recordOf(t, winding, calls)
	require.Empty(t, done.check())
	require.Equal(t, tripDone, done.Ends[0].State)
	require.Equal(t, []string{"one", ""}, done.Ends[0].Bill.Calls)
	require.Len(t, done.Ends[0].Bill.Bookings, 4)
	require.Len(t, done.effects, 4)

	turned := winding
	turned.Fails = true
	failed := recordOf(t, turned, calls)
	require.Empty(t, failed.check())
	require.Equal(t, TripReply{State: tripFailed}, failed.Ends[0])
	require.Len(t, failed.effects, 8)
}

func TestARunThatIsCancelledHasNoContradictions(t *testing.T) {
	cancelled := recordOf(t, winding, func(ctx context.Context, trips *workflow.Type[Trip, Bill], j *Journey) {
		time.Sleep(70 * time.Second) // in the second stage
		_, err := askTrip(ctx, trips, TripRequest{ID: j.ID, Cancel: true, Patience: time.Hour})
		require.NoError(t, err)
		j.Cancelling, j.Cancelled = true, true
	})
	require.Empty(t, cancelled.check())
	require.Equal(t, TripReply{State: tripCancelled}, cancelled.Ends[0])
	require.Len(t, cancelled.effects, 2+3, "the booking after the nap was not made")
}
