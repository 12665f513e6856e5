package statuspage

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/cronstatus"
	"github.com/understudy-go/understudy/internal/placementstatus"
	"github.com/understudy-go/understudy/internal/shardstatus"
	"github.com/understudy-go/understudy/internal/storestatus"
)

func TestOfManyLinksThoseInTroubleAreShownAndTheRestIsCounted(t *testing.T) {
	f := newFake()
	for n := range 1200 {
		f.details.Links = append(f.details.Links, Link{Peer: fmt.Sprintf("10.0.0.%04d:1", n), Name: fmt.Sprintf("n%04d", n), State: "connected", Queued: n % 7})
	}
	f.details.Links[1100].State, f.details.Links[1100].LastError = LinkFailing, "connection refused"
	f.details.Links[1150].Full = true
	w := ask(New(f, Options{}), "GET", "/details")
	require.Equal(t, http.StatusOK, w.Code)
	var got Details
	require.NoError(t, json.Unmarshal(w.Body.Bytes(), &got))
	require.Len(t, got.Links, 1000)
	require.Equal(t, 200, got.LinksLeft)
	require.NotNil(t, got.Journals, "lists are never null")
	require.NotNil(t, got.Projections)
	for i, name := range []string{"n1100", "n1150", "n0006", "n0013"} {
		require.Equal(t, name, got.Links[i].Name)
	}
}

func TestProblemsNameWhatFailsAndWhy(t *testing.T) {
	failing := storestatus.Calls{InARow: 3, Since: new(time.Now()), Failure: "disk full"}
	for want, d := range map[string]Details{
		"Messages to cleo wait, because this node cannot connect to it: connection refused.": {
			Links: []Link{{Name: "cleo", State: LinkFailing, LastError: "connection refused"}},
		},
		"This node and cleo refuse each other: wrong cluster.": {Links: []Link{{Name: "cleo", State: LinkRefused, LastError: "wrong cluster"}}},
		"The queue of messages to cleo is full: their senders wait, or the messages are dropped.": {
			Links: []Link{{Name: "cleo", State: "connected", Full: true}},
		},
		"Appends to the journal sqlite fail: disk full.":       {Journals: []storestatus.Journal{{Name: "sqlite", Appends: failing}}},
		"Claims of ids in the journal sqlite fail: disk full.": {Journals: []storestatus.Journal{{Name: "sqlite", Claims: failing}}},
		"Reads of the journal sqlite fail: disk full.":         {Journals: []storestatus.Journal{{Name: "sqlite", Reads: failing}}},
		"The projection sales fails: no table.":                {Projections: []storestatus.Projection{{Name: "sales", Stalled: 1, Failure: "no table"}}},
		"The projection sales holds events back: no codec.":    {Projections: []storestatus.Projection{{Name: "sales", Held: 2, Failure: "no codec"}}},
		"The coordinator of placement does not answer: it moves.": {
			PlacementFailure: "it moves",
		},
		"Shard 4 of cart runs nowhere: no member that is up hosts the type.": {
			Homeless: []shardstatus.Homeless{{Type: "cart", Why: "no member that is up hosts the type", Shards: []int{4}}},
		},
		"7 shards of cart run nowhere (1, 2, 3, 4, 5, …): it is so.": {
			Homeless: []shardstatus.Homeless{{Type: "cart", Why: "it is so", Shards: []int{1, 2, 3, 4, 5, 6, 7}}},
		},
		"This node takes no part in the type cart: shards 16 here and 32 there.": {
			EntityTypes: []shardstatus.Type{{Name: "cart", Refused: "shards 16 here and 32 there"}},
		},
		"The entry office/invoices has no runs: no such zone.": {
			Schedules: []cronstatus.Schedule{{Name: "office", Entries: []cronstatus.Entry{{Name: "invoices", Problem: "no such zone"}}}},
		},
		"The last run of the entry office/invoices has failed: no paper.": {
			Schedules: []cronstatus.Schedule{{Name: "office", Entries: []cronstatus.Entry{{Name: "invoices", Last: &cronstatus.Run{Error: "no paper"}}}}},
		},
		"Shards run nowhere, and their coordinator does not answer: it moves.": {HomelessFailure: "it moves"},
		"disk-1 is not placed: no eligible nodes.":                             placing(placementstatus.Actor{Label: "disk-1", Trouble: true, Why: "no eligible nodes"}),
		"disk-1 does not run: spawning on n2.":                                 placing(placementstatus.Actor{Label: "disk-1", Node: "n2", Trouble: true, Why: "spawning on n2"}),
		"disk-1 cannot leave n2, whose actors are to be moved away: no eligible nodes.": placing(
			placementstatus.Actor{Label: "disk-1", Node: "n2", Running: true, Trouble: true, Why: "no eligible nodes"}),
	} {
		t.Run(want, func(t *testing.T) {
			found := d.problems()
			require.Len(t, found, 1)
			require.Equal(t, want, found[0].Text)
			require.NotEmpty(t, found[0].Kind)
			require.Equal(t, d.PlacementFailure == "" && d.HomelessFailure == "", found[0].About != "")
		})
	}
}

func placing(a placementstatus.Actor) Details {
	return Details{Placement: &placementstatus.Overview{Actors: []placementstatus.Actor{a}}}
}

func TestWhatGoesWellOrIsNoMemberIsNoProblem(t *testing.T) {
	d := placing(placementstatus.Actor{Label: "disk-1", State: "pending"})
	d.Links = []Link{{Peer: "10.0.0.1:1", State: LinkFailing}, {Name: "cleo", State: "connected", LastError: "it was cut"}}
	d.Journals = []storestatus.Journal{{Name: "sqlite", LastError: "fenced"}}
	d.Projections = []storestatus.Projection{{Name: "sales", Lag: 60}}
	require.Empty(t, d.problems())
}

func TestOfManyProblemsOfAKindTheFirstAreListed(t *testing.T) {
	var d Details
	for n := range 100 {
		d.Links = append(d.Links, Link{Name: fmt.Sprint(n), State: LinkFailing})
	}
	found := d.problems()
	require.Len(t, found, mostProblems+1)
	require.Equal(t, "There are 80 more problems of this kind.", found[mostProblems].Text)
}
