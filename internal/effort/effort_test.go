package effort_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/effort"
)

// A double is a test that notes why it was skipped.
type double struct{ reason any }

func (*double) Helper()            {}
func (*double) Fatal(...any)       {}
func (d *double) Skip(args ...any) { d.reason = args[0] }

func skipped(by func(*double)) any {
	d := &double{}
	by(d)
	return d.reason
}

func TestOneVariableSaysHowMuchIsTested(t *testing.T) {
	for value, want := range map[string]struct {
		of, count    int
		verify, long any
	}{
		"":       {1, 1, "left to make verify", "left to make long"},
		"test":   {1, 1, "left to make verify", "left to make long"},
		"verify": {2, 2, nil, "left to make long"},
		"long":   {3, 3, nil, nil},
		"1000":   {3, 1000, nil, nil},
	} {
		t.Setenv(effort.Variable, value)
		require.Equal(t, want.of, effort.Of(1, 2, 3), value)
		require.Equal(t, want.count, effort.Count(1, 2, 3), value)
		require.Equal(t, want.verify, skipped(func(d *double) { effort.Verify(d) }), value)
		require.Equal(t, want.long, skipped(func(d *double) { effort.Long(d) }), value)
	}
	t.Setenv(effort.Variable, "much")
	require.PanicsWithValue(t, `UNDERSTUDY_EFFORT is "much": set it to test, verify, long or a number`, func() { effort.Of(1, 2, 3) })
}
