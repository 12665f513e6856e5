package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// Limits a tenth above what a type costs with Go 1.26. Look at the functions of one type by
// go tool nm -size, as functions does, before you raise one. Each costs about a millisecond of a
// processor in each package that uses the type.
var limits = map[string]struct{ further, first int }{
	"message":   {297, 871},
	"reply":     {91, 873},
	"aggregate": {577, 2343},
}

func TestATypeCostsTheCompilerFewFunctions(t *testing.T) {
	for _, k := range kinds {
		t.Run(k.name, func(t *testing.T) {
			one, two := functionsOf(t, k, 1), functionsOf(t, k, 2)
			t.Logf("the first costs %d functions, the second %d", one, two-one)
			limit := limits[k.name]
			require.Greater(t, two-one, limit.further/2, "the programs no longer show what a type costs")
			require.LessOrEqual(t, two-one, limit.further, "functions for one more")
			require.LessOrEqual(t, one, limit.first, "functions for the first")
		})
	}
}

func functionsOf(t *testing.T, k kind, n int) int {
	t.Helper()
	source, err := k.source(n)
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "main.go")
	require.NoError(t, os.WriteFile(file, []byte(source), 0o600))
	all, err := functions(file)
	require.NoError(t, err)
	return all
}
