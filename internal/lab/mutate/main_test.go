package main

import (
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var root = filepath.Join("..", "..", "..")

func TestEveryMutantAppliesAndIsGo(t *testing.T) {
	names := map[string]bool{}
	for _, m := range mutants {
		require.False(t, names[m.Name], "two mutants have the name %q", m.Name)
		names[m.Name] = true
		source, err := m.apply(root)
		require.NoError(t, err, m.Name)
		_, err = parser.ParseFile(token.NewFileSet(), m.File, source, 0)
		require.NoError(t, err, m.Name)
		for p := range strings.FieldsSeq(m.Packages) {
			require.DirExists(t, filepath.Join(root, p), m.Name)
		}
	}
	require.GreaterOrEqual(t, len(mutants), 40)
}

func TestAMutantThatDoesNotApplyOrCompileIsBroken(t *testing.T) {
	m := mutant{Name: "none", File: "internal/fifo/fifo.go", Old: "no such line", New: "", Packages: "internal/fifo"}
	what, detail := try(root, m, 0)
	require.Equal(t, broken, what)
	require.Contains(t, detail, "0 times")
	m.Old, m.New = "return item\n", "return nothing\n"
	what, detail = try(root, m, 0)
	require.Equal(t, broken, what)
	require.Contains(t, detail, "does not compile")
}

func TestAMutantIsFoundByATestThatFails(t *testing.T) {
	m := mutant{Name: "last in, first out", File: "internal/fifo/fifo.go", Old: "q.items = append(q.items, item)", New: "q.items = append([]T{item}, q.items...)", Packages: "internal/fifo"}
	what, _ := try(root, m, 0)
	require.Equal(t, found, what)
	m.Old, m.New = "// Push adds an item at the end.", "// Push adds an item."
	what, _ = try(root, m, 0)
	require.Equal(t, survived, what)
}
