package compiletime

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// maxFunctions is a tenth above what a type costs with Go 1.26. Look at those of one type by
// go tool nm -size, as functions does, before you raise it.
const maxFunctions = 1150

// Each function costs about a millisecond of a processor in each package that spawns actors of
// the type. With 2200 functions, the tests of package actor took minutes to compile.
func TestAMessageTypeCostsTheCompilerFewFunctions(t *testing.T) {
	one, two := functions(t, "./testdata/one"), functions(t, "./testdata/two")
	t.Logf("the first type costs %d functions, the second %d", one, two-one)
	require.Greater(t, two-one, maxFunctions/2, "the programs no longer show what a type costs")
	require.LessOrEqual(t, two-one, maxFunctions, "functions for one type of messages")
}

// functions returns how many functions the compiler makes for a program, without its imports.
func functions(t *testing.T, program string) int {
	object := output(t, "list", "-export", "-f", "{{.Export}}", program)
	symbols := output(t, "tool", "nm", strings.TrimSpace(object))
	return strings.Count(symbols, " T ")
}

func output(t *testing.T, args ...string) string {
	out, err := exec.CommandContext(t.Context(), "go", args...).Output()
	require.NoError(t, err)
	return string(out)
}
