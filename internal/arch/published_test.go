package arch

import (
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// sharedInside are internal packages of other modules that published modules still import. They
// must keep what they export until no version of these modules that imports them is in use.
var sharedInside = map[string][]string{
	"persistence/postgres": {"internal/pgschema", "persistence/internal/group", "persistence/internal/instant"},
}

// A program may have two modules of ours in different versions. So one of them may depend only on
// what the other must keep: its public packages.
func TestAPublishedModuleImportsOfOthersOnlyPublicPackages(t *testing.T) {
	root := os.DirFS("../..")
	modules := publishedModules(t, root)
	require.Contains(t, modules, "actor/telemetry/otel")
	for _, dir := range modules {
		sub, err := fs.Sub(root, dir)
		require.NoError(t, err)
		pkgs, err := Load(sub)
		require.NoError(t, err)
		used := map[string]bool{}
		for _, pkg := range pkgs {
			for _, imported := range pkg.Imports {
				name, ours := below(module, imported)
				if _, own := below(dir, name); !ours || own || !isInternal(name) {
					continue
				}
				used[name] = true
				require.Contains(t, sharedInside[dir], name, "%s imports it, and is a module of its own", path.Join(dir, pkg.Path))
			}
		}
		for _, name := range sharedInside[dir] {
			require.True(t, used[name], "%s does not import %s any more", dir, name)
		}
	}
}

// publishedModules returns the folders of the modules that programs import, without the root.
func publishedModules(t *testing.T, root fs.FS) (dirs []string) {
	t.Helper()
	require.NoError(t, fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		dir := path.Dir(name)
		switch {
		case err != nil:
			return err
		case d.IsDir() && name != "." && ignored(d.Name()):
			return fs.SkipDir
		case d.Name() != "go.mod" || dir == ".":
			return nil
		}
		if top, _, _ := strings.Cut(dir, "/"); !slices.Contains([]string{"cmd", "examples", "internal"}, top) {
			dirs = append(dirs, dir)
		}
		return nil
	}))
	return dirs
}

func isInternal(name string) bool { return slices.Contains(strings.Split(name, "/"), "internal") }
