package options_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/options"
)

type option func(*int)

func TestANilOptionIsNamedAndNoneIsApplied(t *testing.T) {
	n := 0
	opts := []option{func(n *int) { *n += 2 }, nil}
	require.EqualError(t, options.Apply(&n, opts), "option 2 is nil")
	require.PanicsWithValue(t, "shop: option 2 is nil", func() { options.MustApply("shop", &n, opts) })
	require.Zero(t, n)
	require.NoError(t, options.Apply(&n, opts[:1]))
	options.MustApply("shop", &n, opts[:1])
	require.Equal(t, 4, n)
}
