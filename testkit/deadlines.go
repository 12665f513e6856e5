package testkit

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

const actorPackage = "github.com/understudy-go/understudy/actor"

// CheckDeadlines fails t for each ask inside of a handler that does not inherit the deadline of the
// request: an [actor.Ask] or [actor.AskTimeout] with context.Background() or context.TODO() in a
// function that has an *actor.Context. Such an ask goes on when nobody waits for the request any
// more; pass the Context of the handler instead. CheckDeadlines reads the Go files in dir, without
// its tests and subfolders, and does not run them. A call in a function without a Context is not
// found, even if a handler calls that function.
func CheckDeadlines(t testing.TB, dir string) {
	t.Helper()
	for _, place := range endlessAsks(t, os.DirFS(dir)) {
		t.Errorf("%s: an ask in a handler has a context of its own; with the *actor.Context of the handler it ends with the request", filepath.Join(dir, place))
	}
}

// The places are file:line.
func endlessAsks(t testing.TB, dir fs.FS) (places []string) {
	t.Helper()
	names, err := fs.Glob(dir, "*.go")
	if err != nil || len(names) == 0 {
		t.Fatalf("testkit: no Go files to check: %v", err)
	}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		source, err := fs.ReadFile(dir, name)
		if err != nil {
			t.Fatal(err)
		}
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, name, source, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, at := range (deadlineCheck{importName(file, actorPackage), importName(file, "context")}).asksIn(file) {
			places = append(places, name+":"+strconv.Itoa(files.Position(at).Line))
		}
	}
	return places
}

// importName is "" if the file does not refer to the package.
func importName(file *ast.File, path string) string {
	for _, spec := range file.Imports {
		switch {
		case spec.Path.Value != strconv.Quote(path):
		case spec.Name != nil:
			return spec.Name.Name
		default:
			return path[strings.LastIndexByte(path, '/')+1:]
		}
	}
	return ""
}

type deadlineCheck struct{ actor, context string }

// A function literal inside of a handler is a handler only if it has a Context itself: it may run
// later.
func (c deadlineCheck) asksIn(file *ast.File) (asks []token.Pos) {
	ast.Inspect(file, func(n ast.Node) bool {
		switch f := n.(type) {
		case *ast.FuncDecl:
			if f.Body != nil && c.handles(f.Type) {
				asks = append(asks, c.asksOf(f.Body)...)
			}
		case *ast.FuncLit:
			if c.handles(f.Type) {
				asks = append(asks, c.asksOf(f.Body)...)
			}
		}
		return true
	})
	return asks
}

func (c deadlineCheck) handles(f *ast.FuncType) bool {
	for _, param := range f.Params.List {
		if star, ok := param.Type.(*ast.StarExpr); ok {
			if generic, ok := star.X.(*ast.IndexExpr); ok && isName(generic.X, c.actor, "Context") {
				return true
			}
		}
	}
	return false
}

func (c deadlineCheck) asksOf(body *ast.BlockStmt) (asks []token.Pos) {
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.CallExpr:
			if (isName(n.Fun, c.actor, "Ask") || isName(n.Fun, c.actor, "AskTimeout")) && len(n.Args) > 0 && c.endless(n.Args[0]) {
				asks = append(asks, n.Pos())
			}
		}
		return true
	})
	return asks
}

func (c deadlineCheck) endless(arg ast.Expr) bool {
	call, ok := arg.(*ast.CallExpr)
	return ok && (isName(call.Fun, c.context, "Background") || isName(call.Fun, c.context, "TODO"))
}

// An instance of pkg.name counts too.
func isName(e ast.Expr, pkg, name string) bool {
	switch x := e.(type) {
	case *ast.IndexExpr:
		e = x.X
	case *ast.IndexListExpr:
		e = x.X
	}
	selector, ok := e.(*ast.SelectorExpr)
	if !ok || pkg == "" || selector.Sel.Name != name {
		return false
	}
	of, ok := selector.X.(*ast.Ident)
	return ok && of.Name == pkg
}
