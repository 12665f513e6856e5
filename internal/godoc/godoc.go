// Package godoc reads doc comments, so that tests can compare them with the code.
package godoc

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
)

// Comments returns the doc comments of the exported functions, and of the exported fields of
// exported structs, of the package in a folder, without tests: "Window" is a function,
// "Config.Bind" a field. Line ends are spaces.
func Comments(dir string) (map[string]string, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return nil, err
	}
	comments := map[string]string{}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
		if err != nil {
			return nil, err
		}
		for _, decl := range file.Decls {
			add(comments, decl)
		}
	}
	return comments, nil
}

func add(comments map[string]string, decl ast.Decl) {
	switch decl := decl.(type) {
	case *ast.FuncDecl:
		if decl.Recv == nil && decl.Name.IsExported() {
			comments[decl.Name.Name] = text(decl.Doc)
		}
	case *ast.GenDecl:
		for _, spec := range decl.Specs {
			t, is := spec.(*ast.TypeSpec)
			if !is || !t.Name.IsExported() {
				continue
			}
			if s, is := t.Type.(*ast.StructType); is {
				addFields(comments, t.Name.Name, s)
			}
		}
	}
}

func addFields(comments map[string]string, of string, s *ast.StructType) {
	for _, field := range s.Fields.List {
		for _, name := range field.Names {
			if name.IsExported() {
				comments[of+"."+name.Name] = text(field.Doc)
			}
		}
	}
}

func text(doc *ast.CommentGroup) string { return strings.Join(strings.Fields(doc.Text()), " ") }

// A Default is a default value that a comment documents.
type Default struct {
	Of   string // a key of [Comments]
	Says string // what the comment must contain
	Want any    // what that means
	Got  any    // what it is in the code
}

// Is returns the default for a key of [Comments]: what its comment must say, the value that this
// means, and the value in the code.
func Is(of, says string, want, got any) Default {
	return Default{Of: of, Says: says, Want: want, Got: got}
}

// Check returns what is wrong with the defaults of the package in a folder: missing comments,
// different values, and comments with a default that is not in the list.
func Check(dir string, defaults ...Default) (problems []string) {
	comments, err := Comments(dir)
	if err != nil {
		return []string{err.Error()}
	}
	known := map[string]bool{}
	for _, d := range defaults {
		known[d.Of] = true
		if !strings.Contains(comments[d.Of], d.Says) {
			problems = append(problems, fmt.Sprintf("the comment of %s does not say %q", d.Of, d.Says))
		}
		if !reflect.DeepEqual(d.Want, d.Got) {
			problems = append(problems, fmt.Sprintf("the default of %s is %v, documented is %v", d.Of, d.Got, d.Want))
		}
	}
	for of, comment := range comments {
		if tells(comment) && !known[of] {
			problems = append(problems, fmt.Sprintf("%s documents a default that no test looks at", of))
		}
	}
	slices.Sort(problems)
	return problems
}

func tells(comment string) bool {
	for _, phrase := range []string{"default is ", "defaults are ", " by default", "Default: ", " 0 is "} {
		if strings.Contains(comment, phrase) {
			return true
		}
	}
	return false
}
