package main

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestSilenceIsTheLongestTimeWithoutAnAcknowledgement(t *testing.T) {
	acks := []time.Duration{1, 5, 7, 20}
	require.Equal(t, time.Duration(13), silence(acks, 4, 30))
	require.Equal(t, time.Duration(4), silence(acks, 1, 7))
	require.Equal(t, time.Duration(10), silence(acks, 8, 18), "nothing in between")
	require.Equal(t, time.Duration(10), silence(acks, 20, 30))
}

func TestTheMedianIsTheOneInTheMiddle(t *testing.T) {
	require.Equal(t, time.Duration(5), median([]time.Duration{9, 1, 5}))
	require.Zero(t, median(nil))
}
