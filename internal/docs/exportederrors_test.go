package docs

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// An exportedError is an error, or a type of errors, of a public package.
type exportedError struct {
	dir    string   // the folder of its package
	name   string   // with the name of the package: singleton.ErrBufferFull
	text   string   // of a variable
	pieces []string // of a type: the literals of its method Error, without their verbs
	doc    string   // the comment
}

// exportedErrors returns the errors of all public packages, in order. An error that another public
// package exports as well is only there under its name in that package.
func exportedErrors(t *testing.T) []exportedError {
	t.Helper()
	var all []exportedError
	sources, again := sources{}, map[string]bool{}
	for _, dir := range publicPackages(t) {
		p := sources.of(t, dir)
		for _, name := range p.names() {
			of, is := p.vars[name], strings.HasPrefix(name, "Err")
			e := exportedError{dir: dir, name: p.name + "." + name}
			if _, ok := p.vars[name]; ok && is {
				e.text = sources.text(t, p, of.file, of.expr)
			} else if method := sources.errorMethod(t, p, name); method != nil {
				of = p.types[name]
				e.pieces = literalPieces(t, method)
			} else {
				continue
			}
			e.doc = of.doc
			all = append(all, e)
			if x, ok := of.expr.(*ast.SelectorExpr); ok {
				other, name := sources.imported(t, of.file, x)
				again[other.name+"."+name] = true
			}
		}
	}
	return slices.DeleteFunc(all, func(e exportedError) bool { return again[e.name] })
}

// sources holds the packages that have been parsed, by folder.
type sources map[string]*source

type source struct {
	name   string
	vars   map[string]located // exported and unexported variables and constants
	types  map[string]located
	errors map[string]*ast.FuncDecl // the methods Error() string, by the name of the type
}

type located struct {
	file *ast.File
	expr ast.Expr
	is   bool // of types: an alias
	doc  string
}

// names returns the exported names of variables and types, in order.
func (p *source) names() []string {
	var all []string
	for _, of := range []map[string]located{p.vars, p.types} {
		for name := range of {
			if ast.IsExported(name) {
				all = append(all, name)
			}
		}
	}
	slices.Sort(all)
	return all
}

func (s sources) of(t *testing.T, dir string) *source {
	t.Helper()
	if s[dir] != nil {
		return s[dir]
	}
	p := &source{vars: map[string]located{}, types: map[string]located{}, errors: map[string]*ast.FuncDecl{}}
	s[dir] = p
	files, err := filepath.Glob(filepath.Join(root, dir, "*.go"))
	require.NoError(t, err)
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution|parser.ParseComments)
		require.NoError(t, err)
		p.name = file.Name.Name
		for _, decl := range file.Decls {
			p.add(file, decl)
		}
	}
	return p
}

func (p *source) add(file *ast.File, decl ast.Decl) {
	switch d := decl.(type) {
	case *ast.FuncDecl:
		if d.Recv != nil && d.Name.Name == "Error" && len(d.Type.Params.List) == 0 {
			of := d.Recv.List[0].Type
			if star, ok := of.(*ast.StarExpr); ok {
				of = star.X
			}
			if id, ok := of.(*ast.Ident); ok {
				p.errors[id.Name] = d
			}
		}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			switch x := spec.(type) {
			case *ast.ValueSpec:
				for i, id := range x.Names {
					if i < len(x.Values) {
						p.vars[id.Name] = located{file: file, expr: x.Values[i], doc: cmp.Or(x.Doc.Text(), d.Doc.Text())}
					}
				}
			case *ast.TypeSpec:
				p.types[x.Name.Name] = located{file, x.Type, x.Assign.IsValid(), cmp.Or(x.Doc.Text(), d.Doc.Text())}
			}
		}
	}
}

// text returns the text of the error, or the value of the constant, that an expression makes.
func (s sources) text(t *testing.T, p *source, file *ast.File, expr ast.Expr) string {
	t.Helper()
	switch x := expr.(type) {
	case *ast.BasicLit:
		if x.Kind == token.STRING {
			return unquoted(t, x)
		}
		return strings.ReplaceAll(x.Value, "_", "")
	case *ast.Ident:
		v, ok := p.vars[x.Name]
		require.True(t, ok, x.Name)
		return s.text(t, p, v.file, v.expr)
	case *ast.SelectorExpr:
		other, name := s.imported(t, file, x)
		v, ok := other.vars[name]
		require.True(t, ok, name)
		return s.text(t, other, v.file, v.expr)
	case *ast.CallExpr:
		text := s.text(t, p, file, x.Args[0])
		args := make([]any, len(x.Args)-1)
		for i, arg := range x.Args[1:] {
			args[i] = s.text(t, p, file, arg)
		}
		if len(args) == 0 {
			return text
		}
		return fmt.Sprintf(verb.ReplaceAllString(text, "%s"), args...)
	}
	require.Fail(t, "an error made in another way", "%T in package %s", expr, p.name)
	return ""
}

// imported returns the package of this repository that a selector names, and the name there.
func (s sources) imported(t *testing.T, file *ast.File, x *ast.SelectorExpr) (*source, string) {
	t.Helper()
	const module = "github.com/understudy-go/understudy/"
	for _, i := range file.Imports {
		dir, ours := strings.CutPrefix(unquoted(t, i.Path), module)
		if ours && (path.Base(dir) == x.X.(*ast.Ident).Name || i.Name != nil && i.Name.Name == x.X.(*ast.Ident).Name) {
			return s.of(t, dir), x.Sel.Name
		}
	}
	return nil, ""
}

// errorMethod returns the method Error of a type, also of one that an alias names; or nil.
func (s sources) errorMethod(t *testing.T, p *source, name string) *ast.FuncDecl {
	t.Helper()
	of, ok := p.types[name]
	x, selects := of.expr.(*ast.SelectorExpr)
	if !ok || !of.is || !selects {
		return p.errors[name]
	}
	other, name := s.imported(t, of.file, x)
	if other == nil {
		return nil
	}
	return s.errorMethod(t, other, name)
}

var verb = regexp.MustCompile(`%[a-z]`)

// literalPieces returns the literals of a function, cut at their verbs.
func literalPieces(t *testing.T, f *ast.FuncDecl) []string {
	t.Helper()
	pieces := []string{}
	ast.Inspect(f.Body, func(n ast.Node) bool {
		if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			pieces = append(pieces, verb.Split(unquoted(t, lit), -1)...)
		}
		return true
	})
	return pieces
}

func unquoted(t *testing.T, lit *ast.BasicLit) string {
	t.Helper()
	text, err := strconv.Unquote(lit.Value)
	require.NoError(t, err)
	return text
}
