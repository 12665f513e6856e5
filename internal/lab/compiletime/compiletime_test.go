package compiletime

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Limits a tenth above what a type costs with Go 1.26. Look at the functions of one type by
// go tool nm -size, as functions does, before you raise one.
const (
	maxFunctions = 280 // of messages
	maxOfReply   = 92
)

// Each function costs about a millisecond of a processor in each package that spawns actors of
// the type. With 2200 functions, the tests of package actor took minutes to compile.
func TestAMessageTypeCostsTheCompilerFewFunctions(t *testing.T) {
	costs(t, maxFunctions, "", `actor.Spawn(s, func(*actor.Context[%[1]s], *actor.Next[%[1]s]) {}, "")`)
}

// A type that is only a reply has refs and asks, and no actor.
func TestAReplyTypeCostsTheCompilerFewFunctions(t *testing.T) {
	costs(t, maxOfReply, `asked := actor.Spawn(s, func(*actor.Context[any], *actor.Next[any]) {}, "")`,
		`_, _ = actor.AskTimeout(context.Background(), asked, 1, func(r actor.ActorRef[%[1]s]) any { return r })`)
}

// costs requires that the second type that use uses, a format, costs at most that many functions.
func costs(t *testing.T, most int, before, use string) {
	t.Helper()
	one := functions(t, before, use, "struct{ from, to string }")
	two := functions(t, before, use, "struct{ from, to string }", "struct{ number int; article string }")
	t.Logf("the first type costs %d functions, the second %d", one, two-one)
	require.Greater(t, two-one, most/2, "the programs no longer show what a type costs")
	require.LessOrEqual(t, two-one, most, "functions for one type")
}

// functions returns how many functions the compiler makes for a program that uses types, without
// its imports.
func functions(t *testing.T, before, use string, types ...string) int {
	t.Helper()
	var program strings.Builder
	program.WriteString("package main\n\n" + "import (\n\t\"context\"\n\n\t\"github.com/understudy-go/understudy/actor\"\n)\n\nvar _ = context.Background\n\n")
	program.WriteString("func main() {\n\ts := actor.NewSystem(\"lab\")\n\t" + before + "\n")
	for _, typ := range types {
		fmt.Fprintf(&program, "\t"+use+"\n", typ)
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
