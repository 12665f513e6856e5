package docs

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// diagrams are the diagrams of states, and the declaration whose string literals name the states.
var diagrams = []struct{ page, heading, file, declaration string }{
	{"docs/cluster.md", "The life of a member", "cluster/internal/membership/table.go", "Status.String"},
	{"docs/singleton.md", "The states of a manager", "singleton/internal/handover/machine.go", "Pending"},
	{"docs/leases.md", "The states of a lease", "singleton/lease/machine.go", "stateNames"},
	{"docs/sharding.md", "The states of a shard", "cluster/sharding/internal/allot/explain.go", "stageNames"},
}

func TestEveryDiagramOfStatesHasTheStatesOfTheCode(t *testing.T) {
	for _, d := range diagrams {
		states := literals(t, d.file, d.declaration)
		if d.declaration == "Status.String" {
			states = slices.DeleteFunc(states, func(s string) bool { return s == "none" }) // of no member
		}
		slices.Sort(states)
		require.NotEmpty(t, states, d.declaration)
		require.Equal(t, states, statesOf(arrows(t, d.page, d.heading)), "%s: %s", d.page, d.heading)
	}
}

// The transitions of a member are those that the simulation allows. Text below the diagram has the
// removals in every status.
func TestTheDiagramOfAMemberHasTransitionsOfTheCode(t *testing.T) {
	allowed := map[[2]string]bool{}
	rule := regexp.MustCompile(`\{from: (\w+), to: (\w+), by: (\w+)`)
	for _, m := range rule.FindAllStringSubmatch(read(t, "cluster/internal/membership/transitions_test.go"), -1) {
		allowed[[2]string{strings.ToLower(m[1]), strings.ToLower(m[2])}] = true
		if m[1] != "0" && m[2] != "Removed" {
			require.Contains(t, arrows(t, "docs/cluster.md", "The life of a member"), [2]string{strings.ToLower(m[1]), strings.ToLower(m[2])})
		}
	}
	for _, arrow := range arrows(t, "docs/cluster.md", "The life of a member") {
		if arrow[0] != "[*]" && arrow[1] != "[*]" {
			require.True(t, allowed[arrow], "%v", arrow)
		}
	}
}

var (
	alias = regexp.MustCompile(`(?m)^ +state "([^"]+)" as (\w+)$`)
	arrow = regexp.MustCompile(`(?m)^ +(\S+) --> (\w+|\[\*\])(?:: .+)?$`)
)

// arrows returns the transitions of the first diagram below a heading, each from one state to
// another.
func arrows(t *testing.T, page, heading string) [][2]string {
	t.Helper()
	_, section, found := strings.Cut(read(t, page), "\n## "+heading+"\n")
	require.True(t, found, "%s has no heading %q", page, heading)
	_, diagram, found := strings.Cut(section, "```mermaid\nstateDiagram-v2\n")
	require.True(t, found, "%s: no diagram below %q", page, heading)
	diagram, _, _ = strings.Cut(diagram, "```")
	named := map[string]string{}
	for _, m := range alias.FindAllStringSubmatch(diagram, -1) {
		named[m[2]] = m[1]
	}
	var all [][2]string
	for _, m := range arrow.FindAllStringSubmatch(diagram, -1) {
		pair := [2]string{m[1], m[2]}
		for i, name := range pair {
			if named[name] != "" {
				pair[i] = named[name]
			}
		}
		all = append(all, pair)
	}
	require.Len(t, all, strings.Count(diagram, "-->"))
	return all
}

// statesOf returns the states of transitions, sorted.
func statesOf(all [][2]string) []string {
	var states []string
	for _, pair := range all {
		states = append(states, pair[:]...)
	}
	slices.Sort(states)
	return slices.DeleteFunc(slices.Compact(states), func(s string) bool { return s == "[*]" })
}

// literals returns the string literals in a declaration of a file. A declaration is Type.Method, or
// one name of a group of constants or variables.
func literals(t *testing.T, file, declaration string) []string {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, file), nil, parser.SkipObjectResolution)
	require.NoError(t, err)
	var all []string
	for _, d := range parsed.Decls {
		names := map[string]bool{}
		declared(d, names)
		if !names[declaration] {
			continue
		}
		ast.Inspect(d, func(n ast.Node) bool {
			if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
				text, err := strconv.Unquote(lit.Value)
				require.NoError(t, err)
				all = append(all, text)
			}
			return true
		})
	}
	return all
}
