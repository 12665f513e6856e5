package docs

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// folders are the folders of the packages that docs/coming-from.md names.
var folders = map[string][]string{
	"actor": {"actor"}, "behaviors": {"behavior"}, "cluster": {"cluster"}, "delivery": {"actor/delivery"},
	"downing": {"cluster/downing"}, "persistence": {"persistence"},
	"placement": {"cluster/placement"}, "receptionist": {"actor/receptionist"},
	"router": {"actor/router"}, "sharding": {"cluster/sharding"}, "singleton": {"singleton"}, "testkit": {"testkit"}, "topic": {"actor/topic"},
}

var identifier = regexp.MustCompile("`([a-z]+)\\.([A-Z][A-Za-z]*(?:\\.[A-Z][A-Za-z]*)?)`")

func TestEveryIdentifierOfOursInComingFromExists(t *testing.T) {
	known := map[string]map[string]bool{}
	count := 0
	for line := range strings.Lines(read(t, "docs/coming-from.md")) {
		cells := strings.Split(line, " | ")
		if len(cells) < 3 {
			continue
		}
		for _, m := range identifier.FindAllStringSubmatch(strings.Join(cells[1:], " "), -1) {
			pkg, name := m[1], m[2]
			if pkg == "context" {
				continue
			}
			if known[pkg] == nil {
				require.NotEmpty(t, folders[pkg], "package %s is not in folders", pkg)
				known[pkg] = exported(t, folders[pkg]...)
			}
			if !known[pkg][name] {
				t.Errorf("docs/coming-from.md names %s.%s, which does not exist", pkg, name)
			}
			count++
		}
	}
	require.Greater(t, count, 80)
}

// exported returns the exported names of packages: Name, and Type.Method or Type.Field.
func exported(t *testing.T, dirs ...string) map[string]bool {
	t.Helper()
	names := map[string]bool{}
	for _, dir := range dirs {
		files, err := filepath.Glob(filepath.Join(root, dir, "*.go"))
		require.NoError(t, err)
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
			require.NoError(t, err)
			for _, d := range parsed.Decls {
				declared(d, names)
			}
		}
	}
	return names
}

// declared adds the names of a declaration.
func declared(d ast.Decl, names map[string]bool) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		names[receiverOf(d)+d.Name.Name] = true
	case *ast.GenDecl:
		for _, s := range d.Specs {
			switch s := s.(type) {
			case *ast.TypeSpec:
				names[s.Name.Name] = true
				if fields, ok := s.Type.(*ast.StructType); ok {
					for _, f := range fields.Fields.List {
						for _, name := range f.Names {
							names[s.Name.Name+"."+name.Name] = true
						}
					}
				}
			case *ast.ValueSpec:
				for _, name := range s.Names {
					names[name.Name] = true
				}
			}
		}
	}
}

// receiverOf returns the type of a method and a dot; "" for a function.
func receiverOf(d *ast.FuncDecl) string {
	if d.Recv == nil {
		return ""
	}
	expr := d.Recv.List[0].Type
	for {
		switch e := expr.(type) {
		case *ast.StarExpr:
			expr = e.X
		case *ast.IndexExpr:
			expr = e.X
		case *ast.Ident:
			return e.Name + "."
		default:
			return ""
		}
	}
}
