//go:build linux

package main

import (
	"bytes"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/cluster"
)

func TestSightingsAreReadAsTheyWereTold(t *testing.T) {
	a := cluster.Member{Name: "a", Address: "10.77.0.1:7355", Incarnation: 1}
	b := cluster.Member{Name: "b", Address: "10.77.0.2:7355", Incarnation: 2}
	var file bytes.Buffer
	writeEvents(slices.Values([]cluster.Event{
		cluster.MemberUnreachable{Member: a, By: []cluster.Member{b}},
		cluster.MemberRemoved{Member: a, Before: cluster.Down, Clean: true},
	}), &file)
	file.WriteString(`{"At":12,"Ki`) // torn
	seen := readEvents(&file)
	require.Len(t, seen, 2)
	for i := range seen {
		require.Positive(t, seen[i].At)
		seen[i].At = 0
	}
	require.Equal(t, []ObservedEvent{
		{Kind: "MemberUnreachable", Member: "a", ID: a.ID().String(), By: []string{"b"}},
		{Kind: "MemberRemoved", Member: "a", ID: a.ID().String(), Clean: true},
	}, seen)
}

func TestALogTellsWhenItSaysSomething(t *testing.T) {
	log := []byte("1.500\tWARN\tn1.1\tdowning\t{\"reason\": \"" + unstableReason + "\"}\n2.000\tINFO\tn1.1\telse\nno time " + unstableReason + "\n")
	require.Equal(t, []time.Duration{1500 * time.Millisecond}, momentsOf(log, unstableReason))
}
