//go:build !race

package delivery_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/persistence/sqlite"
)

func TestWhatWasRefusedStaysUntilItIsRemovedFromSQLite(t *testing.T) {
	j, err := sqlite.Open(filepath.Join(t.TempDir(), "journal.db"))
	require.NoError(t, err)
	refusedStays(t, j)
	require.NoError(t, j.Close())
}
