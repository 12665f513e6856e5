package arch

import (
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
)

// A Package is one directory of Go files with their imports.
type Package struct {
	Path        string   // slash-separated, below the module's root; "." is the root itself
	Imports     []string // of the files that are built, for any platform; sorted
	TestImports []string // of the _test files, those of the external test package included; sorted
}

// Load returns the packages of the module whose root is fsys, in the order of their
// paths. It reads every Go file, whatever its build constraints. It passes over what the
// go command passes over: testdata, names that begin with "." or "_", nested modules.
func Load(fsys fs.FS) ([]Package, error) {
	imports := map[string]*importSet{}
	err := fs.WalkDir(fsys, ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir():
			return enter(fsys, name)
		case path.Ext(name) != ".go" || ignored(path.Base(name)):
			return nil
		}
		dir := path.Dir(name)
		if imports[dir] == nil {
			imports[dir] = &importSet{built: map[string]bool{}, tests: map[string]bool{}}
		}
		return imports[dir].add(fsys, name)
	})
	if err != nil {
		return nil, fmt.Errorf("load packages: %w", err)
	}
	var pkgs []Package
	for _, dir := range slices.Sorted(maps.Keys(imports)) {
		pkgs = append(pkgs, imports[dir].pkg(dir))
	}
	return pkgs, nil
}

// enter answers [fs.SkipDir] for a directory that holds no packages of this module.
func enter(fsys fs.FS, dir string) error {
	if dir == "." {
		return nil
	}
	if base := path.Base(dir); ignored(base) || base == "testdata" {
		return fs.SkipDir
	}
	if _, err := fs.Stat(fsys, path.Join(dir, "go.mod")); err == nil {
		return fs.SkipDir
	}
	return nil
}

func ignored(base string) bool {
	return strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_")
}

type importSet struct {
	built, tests map[string]bool
}

func (s *importSet) add(fsys fs.FS, name string) error {
	source, err := fs.ReadFile(fsys, name)
	if err != nil {
		return err
	}
	file, err := parser.ParseFile(token.NewFileSet(), name, source, parser.ImportsOnly)
	if err != nil {
		return err
	}
	into := s.built
	if strings.HasSuffix(name, "_test.go") {
		into = s.tests
	}
	for _, spec := range file.Imports {
		imported, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return err
		}
		into[imported] = true
	}
	return nil
}

func (s *importSet) pkg(dir string) Package {
	return Package{
		Path:        dir,
		Imports:     slices.Sorted(maps.Keys(s.built)),
		TestImports: slices.Sorted(maps.Keys(s.tests)),
	}
}
