package singleton

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor/telemetry"
)

func values(t *testing.T, all []telemetry.Family, name string) map[string]float64 {
	t.Helper()
	for _, f := range all {
		if f.Name != name {
			continue
		}
		of := map[string]float64{}
		for _, s := range f.Series {
			key := ""
			for _, l := range s.Labels {
				key += "/" + l
			}
			of[key] = s.Value
		}
		return of
	}
	t.Fatalf("no family %s", name)
	return nil
}

func TestTheMetricsOfSingletonsAreThoseOfTheirStatus(t *testing.T) {
	all := families([]Status{
		{
			Name: "host", Phase: Host, Host: "a:1", Here: true, Held: 1, Unacknowledged: 2, Dropped: 3, Starts: 4, Failures: 5,
			Generation: Generation{Term: 6, Seq: 7}, RestartsInARow: 3, Lease: "l", LeaseHeld: true, LeaseLosses: 8,
		},
		{Name: "misfit", Phase: Pending, Mismatch: "the role differs"},
		{Name: "nowhere", Phase: Pending},
		{Name: "stuck", Phase: Stopping, Host: "b:1", Stuck: time.Unix(1, 0)},
	}, measurements{})
	for name, want := range map[string]map[string]float64{
		"understudy_singleton_hosted":                  {"/host": 1, "/misfit": 0, "/nowhere": 0, "/stuck": 0},
		"understudy_singleton_generation_term":         {"/host": 6, "/misfit": 0, "/nowhere": 0, "/stuck": 0},
		"understudy_singleton_generation_seq":          {"/host": 7, "/misfit": 0, "/nowhere": 0, "/stuck": 0},
		"understudy_singleton_mismatch":                {"/host": 0, "/misfit": 1, "/nowhere": 0, "/stuck": 0},
		"understudy_singleton_nowhere":                 {"/host": 0, "/misfit": 0, "/nowhere": 1, "/stuck": 0},
		"understudy_singleton_held_messages":           {"/host": 1, "/misfit": 0, "/nowhere": 0, "/stuck": 0},
		"understudy_singleton_unacknowledged_messages": {"/host": 2, "/misfit": 0, "/nowhere": 0, "/stuck": 0},
		"understudy_singleton_dropped_messages_total":  {"/host": 3, "/misfit": 0, "/nowhere": 0, "/stuck": 0},
		"understudy_singleton_starts_total":            {"/host": 4, "/misfit": 0, "/nowhere": 0, "/stuck": 0},
		"understudy_singleton_failures_total":          {"/host": 5, "/misfit": 0, "/nowhere": 0, "/stuck": 0},
		"understudy_singleton_restarts_in_a_row":       {"/host": 3, "/misfit": 0, "/nowhere": 0, "/stuck": 0},
		"understudy_singleton_crash_loop":              {"/host": 1, "/misfit": 0, "/nowhere": 0, "/stuck": 0},
		"understudy_singleton_stuck":                   {"/host": 0, "/misfit": 0, "/nowhere": 0, "/stuck": 1},
		"understudy_singleton_lease_held":              {"/host": 1},
		"understudy_lease_lost_total":                  {"/host": 8},
	} {
		require.Equal(t, want, values(t, all, name), name)
	}
	phase := values(t, all, "understudy_singleton_phase")
	require.Len(t, phase, 4*len(phases))
	require.InDelta(t, 1, phase["/stuck/stopping"], 0)
	require.InDelta(t, 0, phase["/stuck/host"], 0)
}

func TestOnlyWhatWasMeasuredIsCounted(t *testing.T) {
	var m measured
	m.began(-1, -1)
	m.began(time.Second, -1)
	m.began(-1, 2*time.Second)
	require.Equal(t, time.Second, m.read().handovers.Sum)
	require.Equal(t, uint64(1), m.read().handovers.Count)
	require.Equal(t, 2*time.Second, m.read().outages.Sum)
	require.Equal(t, uint64(1), m.read().outages.Count)
}
