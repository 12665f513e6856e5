package main

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/singleton"
)

// ticking returns an instance that reported every tick, in each of the spans of seconds.
func ticking(node string, term uint64, seconds ...[2]int) Run {
	r := Run{Node: node, Generation: singleton.Generation{Term: term, Seq: 1}}
	for _, s := range seconds {
		for at := time.Duration(s[0]) * time.Second; at <= time.Duration(s[1])*time.Second; at += 50 * time.Millisecond {
			r.Said = append(r.Said, at)
		}
	}
	return r
}

func TestInstancesOneAfterTheOtherDoNotOverlap(t *testing.T) {
	require.Empty(t, overlaps([]Run{ticking("n1.1", 1, [2]int{0, 10}), ticking("n2.1", 2, [2]int{10, 20})}, nil))
}

func TestAnInstanceThatIsAsleepDoesNotRun(t *testing.T) {
	sleeper := ticking("n1.1", 1, [2]int{0, 10}, [2]int{30, 31})
	require.Empty(t, overlaps([]Run{sleeper, ticking("n2.1", 2, [2]int{15, 25})}, nil))
}

func TestTwoInstancesAtATimeAreFound(t *testing.T) {
	found := overlaps([]Run{ticking("n1.1", 1, [2]int{0, 12}), ticking("n2.1", 2, [2]int{10, 20})}, nil)
	require.Len(t, found, 1)
	require.Empty(t, found[0].Excuse)
	require.Equal(t, "for 2s, from 10s, generation 1.1 ran on n1.1 and 2.1 on n2.1", found[0].String())
}

func TestAnOverlapIsExcusedByADisruptionOfItsOwnNodesOnly(t *testing.T) {
	runs := []Run{ticking("n1.1", 1, [2]int{100, 112}), ticking("n2.1", 2, [2]int{110, 120})}
	for name, test := range map[string]struct {
		disruption Disruption
		excused    bool
	}{
		"a node of it was stopped":       {Disruption{"n1.1", 80 * time.Second, 100 * time.Second}, true},
		"another node was stopped":       {Disruption{"n3.1", 80 * time.Second, 100 * time.Second}, false},
		"a former process of the node":   {Disruption{"n1.0", 80 * time.Second, 100 * time.Second}, false},
		"the network was cut":            {Disruption{"", 80 * time.Second, 100 * time.Second}, true},
		"the network was cut long ago":   {Disruption{"", time.Second, 2 * time.Second}, false},
		"the network was cut afterwards": {Disruption{"", 113 * time.Second, 114 * time.Second}, false},
	} {
		found := overlaps(runs, []Disruption{test.disruption})
		require.Len(t, found, 1)
		require.Equal(t, test.excused, found[0].Excuse != "", name)
	}
}

func TestAMachineThatHadNoTimeForAnInstanceExcusesIt(t *testing.T) {
	found := overlaps([]Run{ticking("n1.1", 1, [2]int{0, 5}, [2]int{10, 12}), ticking("n2.1", 2, [2]int{11, 20})}, nil)
	require.Len(t, found, 1)
	require.Equal(t, "n1.1 was stopped", found[0].Excuse)
}

func TestGenerationsGrowButForAFullStop(t *testing.T) {
	runs := []Run{ticking("n2.1", 2, [2]int{10, 20}), ticking("n1.1", 1, [2]int{0, 10}), ticking("n3.1", 1, [2]int{30, 40})}
	require.Empty(t, checkGenerations(runs, []time.Duration{25 * time.Second}))
	require.Equal(t, []string{"generation 2.1 started on n2.1 at 10s, and 1.1 on n3.1 at 30s"}, checkGenerations(runs, nil))
	runs[2].Generation.Term = 2
	require.Len(t, checkGenerations(runs, nil), 1, "the same twice is no growth")
}

func TestWhatATickerHasSaidIsReadUpToATornLine(t *testing.T) {
	runs := readRuns("n1.1", strings.NewReader("100 1 1\n150 1 1\n200 1 2\n25"))
	require.Equal(t, []Run{
		{Node: "n1.1", Generation: singleton.Generation{Term: 1, Seq: 1}, Said: []time.Duration{100, 150}},
		{Node: "n1.1", Generation: singleton.Generation{Term: 1, Seq: 2}, Said: []time.Duration{200}},
	}, runs)
}
