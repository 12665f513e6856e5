package main

import (
	"fmt"
	"path"
	"path/filepath"

	"golang.org/x/mod/modfile"
)

// Problems says what would keep a user from getting the published modules, or the modules of the
// repository from finding each other.
func Problems(modules []Module) []string {
	byPath := map[string]Module{}
	for _, m := range modules {
		byPath[m.Path()] = m
	}
	var found []string
	for _, m := range modules {
		if want := path.Join(rootPath, m.Name); m.Path() != want && m.Name != template {
			found = append(found, fmt.Sprintf("%s/go.mod: the module path is %s and not %s", m.Name, m.Path(), want))
		}
		found = append(found, requireProblems(m, byPath, Version(modules))...)
		found = append(found, replaceProblems(m)...)
	}
	return found
}

// requireProblems checks which of our modules m requires.
func requireProblems(m Module, byPath map[string]Module, version string) []string {
	var found []string
	for _, r := range m.ours() {
		if r.Version != version {
			found = append(found, fmt.Sprintf("%s/go.mod: requires %s at %s, others at %s", m.Name, r.Path, r.Version, version))
		}
		if m.Published() && !byPath[r.Path].isPublished() {
			found = append(found, fmt.Sprintf("%s/go.mod: requires %s, which is not published", m.Name, r.Path))
		}
		if target := replacement(m.File, r.Path); target != byPath[r.Path].from(m) {
			found = append(found, fmt.Sprintf("%s/go.mod: replaces %s by %q", m.Name, r.Path, target))
		}
	}
	return found
}

// replaceProblems checks that a published module replaces only modules of the repository: a user's
// build ignores the replacements, and gets the modules of others as they are. A command replaces
// none, because go install refuses such a module.
func replaceProblems(m Module) []string {
	var found []string
	if m.Command() && len(m.File.Replace) > 0 {
		found = append(found, m.Name+"/go.mod: go install refuses a module with replace directives")
	}
	for _, r := range m.File.Replace {
		if m.Published() && !isOurs(r.Old.Path) {
			found = append(found, fmt.Sprintf("%s/go.mod: replaces %s, which has no effect for users", m.Name, r.Old.Path))
		}
	}
	return found
}

// replacement returns the path that file replaces a module by, or "".
func replacement(file *modfile.File, modulePath string) string {
	for _, r := range file.Replace {
		if r.Old.Path == modulePath {
			return r.New.Path
		}
	}
	return ""
}

// isPublished reports whether m is a module of the repository that users get.
func (m Module) isPublished() bool { return m.File != nil && m.Published() }

// from returns the folder of m, as a replace directive in other names it.
func (m Module) from(other Module) string {
	dir, err := filepath.Rel(other.Name, m.Name)
	if err != nil {
		return ""
	}
	return filepath.ToSlash(dir)
}
