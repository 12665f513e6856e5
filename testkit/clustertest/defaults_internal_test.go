//go:build !quick

package clustertest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/godoc"
)

func TestDefaultsAreAsDocumented(t *testing.T) {
	c := Chaos{}.withDefaults()
	require.Empty(t, godoc.Check(".",
		godoc.Is("Chaos.Nodes", "The default is 5.", 5, c.Nodes),
		godoc.Is("Chaos.Faults", "The default is 8.", 8, c.Faults),
		godoc.Is("Chaos.Length", "The default is a minute.", time.Minute, c.Length),
		godoc.Is("Chaos.Kinds", "The default is all.", 11, len(c.Kinds)),
		godoc.Is("Chaos.Seed", "The default is 1.", uint64(1), c.Seed),
		godoc.Is("Chaos.Count", "The default is 1.", 1, c.Count),
		godoc.Is("Chaos.Settle", "The default is a minute.", time.Minute, c.Settle),
		godoc.Is("Chaos.ShrinkRuns", "The default is 60;", 60, c.ShrinkRuns),
		godoc.Is("Chaos.ShrinkTime", "The default is a minute.", time.Minute, c.ShrinkTime),
	))
}
