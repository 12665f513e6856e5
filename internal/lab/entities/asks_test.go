package main

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestAsksAreGroupedByTheSecondInWhichTheyWereSent(t *testing.T) {
	all := []ask{
		{at: -1500 * time.Millisecond, took: 2, node: "n1"},
		{at: -1, took: 4, node: "n1"},
		{at: 1, took: 9, node: "n1"},
		{at: 2, took: 7, node: "n2"},
		{at: 3},
	}
	require.Equal(t, []second{
		{from: -2, sent: 1, p50: 2, p99: 2, p999: 2, most: 2},
		{from: -1, sent: 1, p50: 4, p99: 4, p999: 4, most: 4},
		{from: 0, sent: 3, failed: 1, p50: 9, p99: 9, p999: 9, most: 9},
	}, bySecond(all))
}

func TestTheFirstReplyOfAWokenEntityIsOneOfTheKilledNode(t *testing.T) {
	was := func(entity int) bool { return entity == 1 }
	all := []ask{
		{entity: 1, at: -5, took: 2, node: "n2"}, // it had moved before
		{entity: 2, at: 1, took: 1, node: "n2"},  // another one
		{entity: 1, at: 1, took: 1, node: "n1"},  // still of the killed node
		{entity: 1, at: 2},                       // failed
		{entity: 1, at: 3, took: 9, node: "n2"}, {entity: 1, at: 8, took: 2, node: "n2"},
	}
	after, ok := firstWoken(all, was, "n1")
	require.True(t, ok)
	require.Equal(t, time.Duration(10), after)
	_, ok = firstWoken(all[:4], was, "n1")
	require.False(t, ok)
}
