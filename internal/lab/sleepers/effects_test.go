package sleepers

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestStepsThatWereRepeatedAreCounted(t *testing.T) {
	path := filepath.Join(t.TempDir(), "effects")
	file, err := os.Create(path)
	require.NoError(t, err)
	e := effects{file}
	for _, run := range []int{0, 2, 1, 2} {
		require.NoError(t, e.note(run, before))
	}
	require.NoError(t, e.note(1, after))
	require.NoError(t, file.Close())
	all, err := records(path)
	require.NoError(t, err)
	c := newCounts(3)
	require.NoError(t, c.add(all))
	require.Equal(t, [2]int{3, 1}, c.runs)
	require.Equal(t, [2]int{1, 0}, c.repeated)
	require.ErrorContains(t, newCounts(2).add(all), "run 2")
}
