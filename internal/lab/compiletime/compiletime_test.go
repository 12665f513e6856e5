package compiletime

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// maxFunctions is a tenth above what a type costs with Go 1.26. Look at those of one type by
// go tool nm -size, as functions does, before you raise it.
const maxFunctions = 1130

// Each function costs about a millisecond of a processor in each package that spawns actors of
// the type. With 2200 functions, the tests of package actor took minutes to compile.
func TestAMessageTypeCostsTheCompilerFewFunctions(t *testing.T) {
	one := functions(t, "struct{ from, to string }")
	two := functions(t, "struct{ from, to string }", "struct{ number int; article string }")
	t.Logf("the first type costs %d functions, the second %d", one, two-one)
	require.Greater(t, two-one, maxFunctions/2, "the programs no longer show what a type costs")
	require.LessOrEqual(t, two-one, maxFunctions, "functions for one type of messages")
}

// functions returns how many functions the compiler makes for a program, without its imports. The
// program spawns an actor for each type of messages.
func functions(t *testing.T, types ...string) int {
	var program strings.Builder
	program.WriteString("package main\n\n" + `import "github.com/understudy-go/understudy/actor"` + "\n\n")
	program.WriteString("func main() {\n\ts := actor.NewSystem(\"lab\")\n")
	for _, message := range types {
		program.WriteString("\tactor.Spawn(s, func(*actor.Context[" + message + "], *actor.Next[" + message + "]) {}, \"\")\n")
	}
	program.WriteString("}\n")
	file := filepath.Join(t.TempDir(), "main.go")
	require.NoError(t, os.WriteFile(file, []byte(program.String()), 0o600))
	object := output(t, "list", "-export", "-f", "{{.Export}}", file)
	return strings.Count(output(t, "tool", "nm", strings.TrimSpace(object)), " T ")
}

func output(t *testing.T, args ...string) string {
	out, err := exec.CommandContext(t.Context(), "go", args...).Output()
	require.NoError(t, err)
	return string(out)
}
