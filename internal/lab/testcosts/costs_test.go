package main

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestWhatProcessesHaveNotedIsAddedUpByPackage(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"graph-1.json": `[
			{"Mode": "build", "Package": "github.com/understudy-go/understudy/actor", "CmdUser": 2000000000, "CmdSys": 500000000},
			{"Mode": "build", "Package": "github.com/understudy-go/understudy/actor_test", "CmdUser": 1000000000},
			{"Mode": "link", "Package": "github.com/understudy-go/understudy/actor.test", "CmdUser": 250000000},
			{"Mode": "build", "Package": "net/http", "CmdUser": 1000000000},
			{"Mode": "test run", "Package": "github.com/understudy-go/understudy/actor"}]`,
		"graph-2.json": `[{"Mode": "build", "Package": "go.uber.org/zap", "CmdUser": 750000000}]`,
		"run-3.json":   `{"Package": "actor", "CPU": 4000000000}`,
		"run-4.json":   `{"Package": "actor", "CPU": 1000000000}`,
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	got, err := collect(dir)
	require.NoError(t, err)
	require.Equal(t, costs{"actor": {Compile: 3.5, Link: 0.25, Run: 5}, standard: {Compile: 1}, others: {Compile: 0.75}}, got)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "run-5.json"), []byte("{"), 0o600))
	_, err = collect(dir)
	require.ErrorContains(t, err, "run-5.json")
}

func TestTheTableHasTheMostExpensivePackagesFirst(t *testing.T) {
	before := costs{"actor": {Compile: 20, Run: 5}, "small": {Run: 1}}
	after := costs{"actor": {Compile: 10}, "remote": {Compile: 10, Link: 1, Run: 20}, "small": {Run: 2}}
	require.Equal(t, `| package | compile | link | run | all |
|---|--:|--:|--:|--:|
| `+"`remote`"+` | 10 | 1 | 20 | 31 |
| `+"`actor`"+` | 10 | 0 | 0 | 10 |
| 1 others | 0 | 0 | 2 | 2 |
| **all** | 20 | 1 | 22 | 43 |
`, table(nil, after))
	require.Contains(t, table(before, after), "| `actor` | 10 | 0 | 0 | 10 | 20 | 0 | 5 | 25 |\n")
}

func TestATestBinaryIsRunAndNoted(t *testing.T) {
	dir := t.TempDir()
	folder, err := os.Getwd()
	require.NoError(t, err)
	t.Setenv(rootVariable, filepath.Dir(filepath.Dir(filepath.Dir(folder))))
	require.Equal(t, 3, runTest(dir, []string{"sh", "-c", "exit 3"}))
	require.Equal(t, 1, runTest(dir, []string{filepath.Join(dir, "nothing")}))
	files, err := filepath.Glob(filepath.Join(dir, "run-*.json"))
	require.NoError(t, err)
	require.Len(t, files, 1)
	noted, err := read[ran](files[0])
	require.NoError(t, err)
	require.Equal(t, "internal/lab/testcosts", noted.Package)
	require.Less(t, noted.CPU, time.Minute)
}
