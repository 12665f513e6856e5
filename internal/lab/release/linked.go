package main

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
)

// A Dependency is a module with packages that are linked into programs.
type Dependency struct {
	Path    string
	Version string          // "" if it is a module of this repository
	Sum     string          // as in go.sum, or ""
	Dir     string          // the folder with its files
	Uses    map[string]bool // the paths of the modules that its packages import
}

// A listed is what go list says of a package.
type listed struct {
	ImportPath string
	Imports    []string
	Module     *struct{ Path, Version, Sum, Dir string }
}

// Linked returns the modules that are linked into a program with the packages that users get from
// m, on any of the platforms that have binaries, by their paths. m is among them. Packages that
// only tests import are not.
func Linked(ctx context.Context, m Module) (map[string]*Dependency, error) {
	packages, err := m.packages(ctx)
	if err != nil {
		return nil, err
	}
	linked := map[string]*Dependency{}
	systems := map[string]bool{}
	for _, p := range platforms {
		systems[p.system] = true
	}
	for system := range systems {
		all, err := list(ctx, m.Dir, system, append([]string{"-deps"}, packages...))
		if err != nil {
			return nil, err
		}
		link(linked, all)
	}
	return linked, nil
}

// link adds the modules of packages to linked.
func link(linked map[string]*Dependency, packages []listed) {
	modules := map[string]string{} // by package
	for _, p := range packages {
		if m := p.Module; m != nil { // no package of the standard library
			modules[p.ImportPath] = m.Path
			if linked[m.Path] == nil {
				linked[m.Path] = &Dependency{Path: m.Path, Version: m.Version, Sum: m.Sum, Dir: m.Dir, Uses: map[string]bool{}}
			}
		}
	}
	for _, p := range packages {
		for _, i := range p.Imports {
			from, to := modules[p.ImportPath], modules[i]
			if from != "" && to != "" && from != to {
				linked[from].Uses[to] = true
			}
		}
	}
}

// packages returns the import paths of the packages that users import, or of the program.
func (m Module) packages(ctx context.Context) ([]string, error) {
	if !m.HasUser() {
		return []string{"."}, nil
	}
	all, err := list(ctx, m.Dir, "linux", []string{"./..."})
	if err != nil {
		return nil, err
	}
	var found []string
	for _, p := range all {
		inside := strings.TrimPrefix(p.ImportPath, m.Path()) + "/"
		if !strings.Contains(inside, "/internal/") && !strings.HasPrefix(inside, "/examples/") {
			found = append(found, p.ImportPath)
		}
	}
	return found, nil
}

// list runs go list for an operating system in the folder dir.
func list(ctx context.Context, dir, system string, args []string) ([]listed, error) {
	cmd := exec.CommandContext(ctx, "go", append([]string{"list", "-json=ImportPath,Imports,Module"}, args...)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOOS="+system, "CGO_ENABLED=0", "GOFLAGS=-buildvcs=false", "GOWORK=off")
	out, err := outputOf(cmd)
	if err != nil {
		return nil, err
	}
	return decodeAll[listed](strings.NewReader(out))
}

// decodeAll reads JSON values until there are no more.
func decodeAll[T any](from io.Reader) ([]T, error) {
	var all []T
	for d := json.NewDecoder(from); ; {
		var v T
		err := d.Decode(&v)
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return nil, err
		}
		all = append(all, v)
	}
}

// sorted returns the values of linked modules, in the order of their paths.
func sorted(linked map[string]*Dependency) []*Dependency {
	var all []*Dependency
	for _, p := range slices.Sorted(maps.Keys(linked)) {
		all = append(all, linked[p])
	}
	return all
}
