package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
)

// A law is a test that calls internal/effort, or a test or example that the race detector's build
// leaves out.
type law struct {
	file, test   string
	counts       []string // its calls, as the file writes them
	verify, long bool     // make verify does more than make test, make long more than make verify
	unraced      bool     // it does not run with the race detector
}

// find returns the laws below a folder.
func find(root string) (laws []law, err error) {
	err = filepath.WalkDir(root, func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(file, "_test.go") {
			return err
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil || parsed.Name.Name == "effort_test" {
			return err
		}
		unraced := slices.ContainsFunc(parsed.Comments, func(c *ast.CommentGroup) bool { return c.List[0].Text == "//go:build !race" })
		for _, d := range parsed.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && isRun(f.Name.Name) {
				l := law{file: file, test: f.Name.Name, unraced: unraced}
				ast.Inspect(f, l.add)
				if len(l.counts) > 0 || unraced {
					laws = append(laws, l)
				}
			}
		}
		return nil
	})
	return laws, err
}

// isRun reports whether go test runs the function of that name.
func isRun(name string) bool {
	return strings.HasPrefix(name, "Test") && name != "TestMain" || strings.HasPrefix(name, "Example")
}

// add adds a call of internal/effort.
func (l *law) add(n ast.Node) bool {
	call, ok := n.(*ast.CallExpr)
	if !ok {
		return true
	}
	fun := call.Fun
	if index, ok := fun.(*ast.IndexExpr); ok { // effort.Count[uint64]
		fun = index.X
	}
	selector, ok := fun.(*ast.SelectorExpr)
	if !ok {
		return true
	}
	if pkg, ok := selector.X.(*ast.Ident); !ok || pkg.Name != "effort" {
		return true
	}
	l.counts = append(l.counts, types.ExprString(call))
	switch name := selector.Sel.Name; {
	case name == "Verify":
		l.verify = true
	case name == "Long":
		l.long = true
	case name == "Unraced":
		l.unraced = true
	case len(call.Args) == 3: // Of, Count
		l.verify = l.verify || types.ExprString(call.Args[0]) != types.ExprString(call.Args[1])
		l.long = l.long || types.ExprString(call.Args[1]) != types.ExprString(call.Args[2])
	}
	return true
}
