package busy_test

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor/telemetry"
	"github.com/understudy-go/understudy/internal/lab/busy"
)

var update = flag.Bool("update", false, "write the table of docs/monitoring.md")

const (
	page  = "../../../docs/monitoring.md"
	begin = "| metric | meaning |\n|---|---|\n"
)

// families returns those of a node that uses everything.
func families(t *testing.T) []telemetry.Family {
	t.Helper()
	p, err := busy.Start(t.Context(), t.TempDir(), 1)
	require.NoError(t, err)
	defer func() { require.NoError(t, p.Close(t.Context())) }()
	return telemetry.Gather(p.Nodes[0].System)
}

// table returns the rows of the table of metrics.
func table(all []telemetry.Family) string {
	var rows strings.Builder
	for _, f := range all {
		name := f.Name
		if len(f.Labels) > 0 {
			name += "{" + strings.Join(f.Labels, ",") + "}"
		}
		fmt.Fprintf(&rows, "| `%s` | %s |\n", name, f.Help)
	}
	return rows.String()
}

func TestThePageListsAllMetrics(t *testing.T) {
	text, err := os.ReadFile(page)
	require.NoError(t, err)
	before, shown, found := strings.Cut(string(text), begin)
	require.True(t, found, "no table")
	want := table(families(t))
	if *update {
		require.NoError(t, os.WriteFile(page, []byte(before+begin+want), 0o644))
		return
	}
	require.Equal(t, want, shown, "go test ./internal/lab/busy -update writes the table")
}
