package main

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func TestTheLongestStallIsOfThoseThatEndedLater(t *testing.T) {
	const said = "1000 2000\n3000 3600\n4000 4500\n50"
	for from, want := range map[time.Duration]time.Duration{0: 1000, 2000: 1000, 2001: 600, 3700: 500, 5000: 0} {
		require.Equal(t, want, longestStall(strings.NewReader(said), from), from)
	}
}

func TestAProcessThatSleepsAsLongAsItWillHasNoStalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		var out strings.Builder
		writeStalls(ctx, &out)
		require.Empty(t, out.String())
	})
}
