package needs_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/needs"
)

// A double is a test that notes how it ended.
type double struct{ failed, skipped bool }

func (*double) Helper()        {}
func (d *double) Fatal(...any) { d.failed = true; panic(d) }
func (d *double) Skip(...any)  { d.skipped = true; panic(d) }

func TestWhatIsMissingFailsATestWhereNothingMayBe(t *testing.T) {
	for value, want := range map[string]double{"": {skipped: true}, "1": {failed: true}} {
		t.Setenv(needs.Variable, value)
		d := &double{}
		require.PanicsWithValue(t, d, func() { needs.Missing(d, "no %s", "mounts") })
		require.Equal(t, want, *d)
	}
}

// byChoice are the files that skip tests for another reason than what a machine lacks, and how
// often.
var byChoice = map[string]int{
	"internal/lab/costs/gates_test.go":            1, // measures, when asked by a flag
	"cluster/loopback_test.go":                    1, // measures, when asked by a flag
	"internal/effort/effort.go":                   3, // the helpers for what has little time
	"persistence/journaltest/env.go":              1, // of a feature that is not pinned
	"singleton/lease/leasetest/env.go":            1, // of a feature that is not pinned
	"internal/lab/nemesis/stage_test.go":          1, // with -short
	"internal/lab/nemesis/versions_test.go":       2, // when asked by a flag; of what a clone without history lacks
	"persistence/journaltest/run_test.go":         2, // run in children
	"persistence/sqlite/row_test.go":              1, // of generated input
	"singleton/lease/leasetest/broken_test.go":    1, // runs in a child
	"singleton/lease/leasetest/leasetest_test.go": 1, // when asked by a flag
	"testkit/workflowtest/workflowtest_test.go":   1, // when another test runs it as a process
	"internal/needs/needs.go":                     1, // the helper
	"internal/site/site_test.go":                  1, // make site-check builds the site that it tests
}

var skip = regexp.MustCompile(`\b([tbe]|tb)\.(T\.)?Skip(Now|f)?\(`)

func TestNoTestIsSkippedForWhatAMachineLacksButByMissing(t *testing.T) {
	root := filepath.Join("..", "..")
	found := map[string]int{}
	require.NoError(t, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") {
			return err
		}
		source, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if n := len(skip.FindAll(source, -1)); n > 0 {
			name, err := filepath.Rel(root, path)
			if err != nil {
				return err
			}
			found[filepath.ToSlash(name)] = n
		}
		return nil
	}))
	require.Equal(t, byChoice, found, "a test that lacks something calls needs.Missing; one that is skipped for another reason is listed here")
}
