package main

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
	"golang.org/x/mod/semver"
)

// rootPath is the path of the module at the root. The paths of the others follow from it and from
// their folders.
const rootPath = "github.com/understudy-go/understudy"

// template is a program that people copy, so its path is not one of ours.
const template = "examples/template"

// A Module is a module of the repository.
type Module struct {
	Name string // the folder, relative to the root of the repository: "." or "persistence/postgres"
	Dir  string // the folder, as this process opens it
	Root string // the folder of the repository
	File *modfile.File
}

// Path returns the module path.
func (m Module) Path() string { return m.File.Module.Mod.Path }

// Tag returns the git tag that publishes the module in a version.
func (m Module) Tag(version string) string { return path.Join(m.Name, version) }

// Published reports whether users get the module: the root and the nested modules with packages for
// programs. The others have our tools, our experiments, examples, and tests that need a server.
func (m Module) Published() bool {
	private := m.Name == "internal/tools" || strings.HasPrefix(m.Name, "internal/lab/") || strings.HasPrefix(m.Name, "examples/")
	return !private && !strings.HasSuffix(m.Name, "test")
}

// HasUser reports whether users may import packages of the module. They get an internal module
// because others require it, and a command by go install.
func (m Module) HasUser() bool {
	return m.Published() && !m.Command() && !strings.HasPrefix(m.Name, "internal/")
}

// Command reports whether the module is a command that users install.
func (m Module) Command() bool { return m.Published() && strings.HasPrefix(m.Name, "cmd/") }

// Load returns the modules below root. Each comes after the published modules that it requires.
func Load(root string) ([]Module, error) {
	var modules []Module
	err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.Name() != "go.mod" {
			return err
		}
		m, err := load(root, file)
		modules = append(modules, m)
		return err
	})
	slices.SortStableFunc(modules, func(a, b Module) int { return rank(a) - rank(b) })
	return modules, err
}

func load(root, file string) (Module, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return Module{}, err
	}
	parsed, err := modfile.Parse(file, data, nil)
	if err != nil {
		return Module{}, err
	}
	dir := filepath.Dir(file)
	name, err := filepath.Rel(root, dir)
	return Module{Name: filepath.ToSlash(name), Dir: dir, Root: root, File: parsed}, err
}

// rank orders modules so that none comes before a module that it requires.
func rank(m Module) int {
	switch {
	case m.Name == ".":
		return 0
	case m.Published() && strings.HasPrefix(m.Name, "internal/"):
		return 1
	case m.Published():
		return 2
	default:
		return 3
	}
}

// Published returns the modules that users get.
func Published(modules []Module) []Module {
	return slices.DeleteFunc(slices.Clone(modules), func(m Module) bool { return !m.Published() })
}

// ours returns the modules of this repository that m requires.
func (m Module) ours() []module.Version {
	var all []module.Version
	for _, r := range m.File.Require {
		if isOurs(r.Mod.Path) {
			all = append(all, r.Mod)
		}
	}
	return all
}

func isOurs(modulePath string) bool {
	return modulePath == rootPath || strings.HasPrefix(modulePath, rootPath+"/")
}

// Version returns the version that the modules require of each other, or "" if they require none.
// [Problems] reports modules that differ.
func Version(modules []Module) string {
	for _, m := range modules {
		for _, r := range m.ours() {
			return r.Version
		}
	}
	return ""
}

// SetVersion makes every module require the others at version, and writes the go.mod files.
func SetVersion(modules []Module, version string) error {
	if err := module.CheckPathMajor(version, ""); err != nil || semver.Canonical(version) != version {
		return fmt.Errorf("%q is no version of v0 or v1, such as v0.2.0", version)
	}
	for _, m := range modules {
		for _, r := range m.ours() {
			if err := m.File.AddRequire(r.Path, version); err != nil {
				return err
			}
		}
		data, err := m.File.Format()
		if err != nil {
			return err
		}
		if err := os.WriteFile(m.File.Syntax.Name, data, 0o644); err != nil {
			return err
		}
	}
	return nil
}
