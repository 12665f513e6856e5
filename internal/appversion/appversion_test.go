package appversion_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/appversion"
)

func TestSemanticVersionsAreComparedAsSuch(t *testing.T) {
	for _, c := range []struct {
		older, newer string
	}{
		{"1.9.0", "1.10.0"},
		{"v1.9.0", "1.10.0"},
		{"1.9.0", "v1.10.0"},
		{"1", "2"},
		{"1.4", "1.4.1"},
		{"2.0.0-rc.1", "2.0.0"},
		{"2.0.0-rc.1", "2.0.0-rc.2"},
		{"0.9.9", "1.0.0+build"},
	} {
		require.Negative(t, appversion.Compare(c.older, c.newer), c)
		require.Positive(t, appversion.Compare(c.newer, c.older), c)
		require.True(t, appversion.Newer(c.newer, c.older), c)
		require.False(t, appversion.Newer(c.older, c.newer), c)
	}
	require.Zero(t, appversion.Compare("1.4.0", "v1.4.0"))
	require.Zero(t, appversion.Compare("1.4.0+a", "1.4.0+b"), "builds of one version")
}

func TestOtherVersionsHaveNoOrder(t *testing.T) {
	for _, other := range []string{"", "latest", "2026-11-25", "vv1.0.0", "1.2.3.4", "v"} {
		require.Zero(t, appversion.Compare(other, "1.0.0"), other)
		require.Zero(t, appversion.Compare("1.0.0", other), other)
		require.Zero(t, appversion.Compare(other, "newest"), other)
		require.False(t, appversion.Newer(other, "newest"), other)
		require.True(t, appversion.Newer("1.0.0", other), other)
	}
}
