//go:build !race

package workflowbench_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/lab/workflowbench"
	"github.com/understudy-go/understudy/persistence/journal"
	"github.com/understudy-go/understudy/persistence/sqlite"
)

func BenchmarkWorkflowsOnSQLite(b *testing.B) {
	workflowbench.Measure(b, func() journal.Journal {
		j, err := sqlite.Open(filepath.Join(b.TempDir(), "journal.db"))
		require.NoError(b, err)
		b.Cleanup(func() { _ = j.Close() })
		return j
	})
}
