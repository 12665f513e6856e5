package arch_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// maxMethods is how many methods a type may have. A larger one is to be made of parts.
const maxMethods = 40

// large are the types that have more, with their number.
var large = map[string]int{
	"persistence/jetstream Journal": 74, // stream, subscriptions, pauses and cutting share one connection
}

func TestNoTypeHasTooManyMethods(t *testing.T) {
	counts := map[string]int{}
	const root = "../.."
	require.NoError(t, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		dir, err := filepath.Rel(root, filepath.Dir(path))
		for _, decl := range file.Decls {
			if f, ok := decl.(*ast.FuncDecl); ok && f.Recv != nil {
				counts[filepath.ToSlash(dir)+" "+receiver(f.Recv.List[0].Type)]++
			}
		}
		return err
	}))
	require.Greater(t, len(counts), 500)
	for name, count := range counts {
		require.LessOrEqual(t, count, max(maxMethods, large[name]), name)
	}
	for name, count := range large {
		require.Equal(t, count, counts[name], "%s: correct its number here, or leave it out", name)
	}
}

// receiver returns the name of the type of a receiver.
func receiver(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return receiver(e.X)
	case *ast.IndexExpr:
		return receiver(e.X)
	case *ast.IndexListExpr:
		return receiver(e.X)
	case *ast.Ident:
		return e.Name
	}
	return ""
}
