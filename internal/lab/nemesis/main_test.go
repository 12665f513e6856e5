//go:build linux

package main

import (
	"bytes"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestMain lets the test's own binary be a node.
func TestMain(m *testing.M) {
	if mutate := mutants[os.Getenv(mutantEnv)]; mutate != nil {
		mutate()
	}
	if !beNode() {
		os.Exit(m.Run())
	}
}

// short is a schedule of the faults that are most likely to find an error.
var short = []Round{
	{Faults: []Fault{{Kind: Kill, Targets: []int{0}, Host: true, For: 3 * time.Second}}, Settle: true},
	{Faults: []Fault{{Kind: Partition, Targets: []int{1}, Host: true, For: 8 * time.Second}}, Settle: true},
	{Faults: []Fault{
		{Kind: Lose, Targets: []int{0, 1, 2}, Percent: 5, For: 8 * time.Second},
		{Kind: Pause, Targets: []int{2}, Host: true, For: 6 * time.Second},
	}, Gap: time.Second, Settle: true},
	{Faults: []Fault{{Kind: Mute, Targets: []int{0}, Host: true, For: 8 * time.Second}}, Settle: true},
	{Faults: []Fault{{Kind: KillAll, Targets: []int{0, 1, 2}, For: time.Second}}, Settle: true},
}

func TestRealNodesSurviveAShortNemesis(t *testing.T) {
	needNetwork(t)
	var out bytes.Buffer
	h, err := newHarness(&out, options{nodes: 3, lists: 300, workflows: 200, settle: 3 * time.Minute, secret: newSecret()})
	require.NoError(t, err)
	err = h.torment(t.Context(), slices.Values(short))
	t.Logf("\n%s", &out)
	require.NoError(t, err)
	require.NoDirExists(t, h.dir)
	require.Greater(t, len(h.rec.acked()), 100)
	require.Greater(t, len(h.journeys), 12, "each traveller has made a trip")
}
