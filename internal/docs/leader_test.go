package docs

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// opponents are the rows of README.md that come from the table of docs/kill-the-leader.md, by their
// names there.
var opponents = map[string]string{
	"client-go's leader election, plain table":          "client-go Lease",
	"advisory lock of PostgreSQL":                       "advisory lock",
	"the same through PgBouncer, pooled by transaction": "advisory lock, PgBouncer by transaction",
	"Understudy": "Understudy",
}

// The program of the page writes its table, and not the shorter one in the README.
func TestTheReadmeHasTheFiguresOfKillTheLeader(t *testing.T) {
	_, page, found := strings.Cut(read(t, "docs/kill-the-leader.md"), "| outage p50 |")
	require.True(t, found)
	_, section, found := strings.Cut(read(t, "README.md"), "\n## Kill the leader\n")
	require.True(t, found)
	rows := 0
	for line := range strings.Lines(section) {
		cells := cellsOf(line)
		if len(cells) != 4 || opponents[cells[0]] == "" {
			continue
		}
		rows++
		_, figures, found := strings.Cut(page, "\n| "+opponents[cells[0]]+" |")
		require.True(t, found, cells[0])
		figures, _, _ = strings.Cut(figures, "\n")
		all := cellsOf("| " + opponents[cells[0]] + " |" + figures)
		require.Equal(t, []string{all[1] + ", " + all[2], all[5], all[7]}, cells[1:], cells[0])
		require.Equal(t, "0", all[4], "the README says that no acknowledged write was lost")
	}
	require.Len(t, opponents, rows)
}

// cellsOf returns the cells of a row of a table.
func cellsOf(row string) []string {
	row = strings.TrimSpace(row)
	if !strings.HasPrefix(row, "|") || !strings.HasSuffix(row, "|") || len(row) < 2 {
		return nil
	}
	cells := strings.Split(row[1:len(row)-1], "|")
	for i := range cells {
		cells[i] = strings.TrimSpace(cells[i])
	}
	return cells
}
