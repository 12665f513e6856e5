package main

import (
	"archive/zip"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// write makes files below a new folder, and returns it.
func write(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		file := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o700))
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	}
	return dir
}

// tree is a repository with a nested module that users get and one with its tests.
func tree(t *testing.T, nested string) string {
	t.Helper()
	return write(t, map[string]string{
		"go.mod":                "module " + rootPath + "\n",
		"a.go":                  "package a\n",
		"store/go.mod":          nested,
		"store/store.go":        "package store\n",
		"storetest/go.mod":      "module " + rootPath + "/storetest\n",
		"internal/pg/go.mod":    "module " + rootPath + "/internal/pg\n",
		"internal/lab/x/go.mod": "module " + rootPath + "/internal/lab/x\n",
	})
}

func mustLoad(t *testing.T, root string) []Module {
	t.Helper()
	modules, err := Load(root)
	require.NoError(t, err)
	return modules
}

func TestTheModulesOfTheRepositoryCanBePublished(t *testing.T) {
	modules := mustLoad(t, root)
	require.Greater(t, len(Published(modules)), 5)
	require.Empty(t, Problems(modules))
}

func TestEveryModuleThatUsersImportHasAProgram(t *testing.T) {
	entries, err := programs.ReadDir("users")
	require.NoError(t, err)
	users := 0
	for _, m := range mustLoad(t, root) {
		if m.HasUser() {
			users++
			source, err := programOf(m)
			require.NoError(t, err)
			require.Contains(t, string(source), "\""+m.Path())
		}
	}
	require.Len(t, entries, users)
}

// The order of the tags in docs/releasing.md is the order in which modules require each other.
func TestThePageOnReleasesNamesTheTagsInOrder(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(root, "docs/releasing.md"))
	require.NoError(t, err)
	tags := ""
	for _, m := range Published(mustLoad(t, root)) {
		tags += "    " + m.Tag("v0.1.0") + "\n"
	}
	require.Contains(t, string(page), "\n\n"+tags+"\n")
}

func TestWhatAUserCannotGetIsAProblem(t *testing.T) {
	header := "module " + rootPath + "/store\n"
	for name, test := range map[string]struct {
		nested string
		want   []string
	}{
		"nothing":          {header + "require " + rootPath + " v0.1.0\nreplace " + rootPath + " => ..\n", nil},
		"another path":     {"module example.com/store\n", []string{"store/go.mod: the module path is example.com/store and not " + rootPath + "/store"}},
		"no replacement":   {header + "require " + rootPath + " v0.1.0\n", []string{"store/go.mod: replaces " + rootPath + ` by ""`}},
		"a module for us":  {header + "require " + rootPath + "/storetest v0.1.0\nreplace " + rootPath + "/storetest => ../storetest\n", []string{"store/go.mod: requires " + rootPath + "/storetest, which is not published"}},
		"two versions":     {header + "require (\n" + rootPath + " v0.1.0\n" + rootPath + "/internal/pg v0.2.0\n)\nreplace " + rootPath + " => ..\nreplace " + rootPath + "/internal/pg => ../internal/pg\n", []string{"store/go.mod: requires " + rootPath + "/internal/pg at v0.2.0, others at v0.1.0"}},
		"a patched module": {header + "replace example.com/a => example.com/b v1.0.0\n", []string{"store/go.mod: replaces example.com/a, which has no effect for users"}},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, test.want, Problems(mustLoad(t, tree(t, test.nested))))
		})
	}
}

func TestACommandThatCannotBeInstalledIsAProblem(t *testing.T) {
	dir := write(t, map[string]string{
		"go.mod":       "module " + rootPath + "\n",
		"cmd/x/go.mod": "module " + rootPath + "/cmd/x\nrequire " + rootPath + " v0.1.0\nreplace " + rootPath + " => ../..\n",
	})
	require.Equal(t, []string{"cmd/x/go.mod: go install refuses a module with replace directives"}, Problems(mustLoad(t, dir)))
}

func TestModulesComeAfterThoseThatTheyRequire(t *testing.T) {
	var names, published []string
	for _, m := range mustLoad(t, tree(t, "module "+rootPath+"/store\n")) {
		names = append(names, m.Name)
		if m.Published() {
			published = append(published, m.Tag("v0.1.0"))
		}
	}
	require.Equal(t, []string{".", "internal/pg", "store", "internal/lab/x", "storetest"}, names)
	require.Equal(t, []string{"v0.1.0", "internal/pg/v0.1.0", "store/v0.1.0"}, published)
}

func TestSetVersionChangesWhatModulesRequireOfEachOther(t *testing.T) {
	dir := tree(t, "module "+rootPath+"/store\n\nrequire (\n\texample.com/a v1.0.0\n\t"+rootPath+" v0.1.0\n)\n")
	require.NoError(t, SetVersion(mustLoad(t, dir), "v0.2.0"))
	changed := mustLoad(t, dir)
	require.Equal(t, "v0.2.0", Version(changed))
	data, err := os.ReadFile(filepath.Join(dir, "store/go.mod"))
	require.NoError(t, err)
	require.Equal(t, "module "+rootPath+"/store\n\nrequire (\n\texample.com/a v1.0.0\n\t"+rootPath+" v0.2.0\n)\n", string(data))

	for _, version := range []string{"0.2.0", "v2.0.0", "v0.2", "latest"} {
		require.ErrorContains(t, SetVersion(changed, version), "is no version of v0 or v1")
	}
}

func TestACheckoutHasWhatIsCommittedAndNothingElse(t *testing.T) {
	repository := write(t, map[string]string{"go.mod": "module " + rootPath + "\n", "a.go": "package a\n", ".gitignore": "*.out\n"})
	git := func(args ...string) {
		_, err := output(t.Context(), repository, "git", append([]string{"-c", "user.name=Test", "-c", "user.email=test@example.com"}, args...)...)
		require.NoError(t, err)
	}
	git("init", "--quiet")
	git("add", ".")
	git("commit", "--quiet", "--message", "First")
	require.NoError(t, os.WriteFile(filepath.Join(repository, "ignored.out"), nil, 0o600))

	head := filepath.Join(t.TempDir(), "head")
	require.NoError(t, Checkout(t.Context(), repository, head))
	entries, err := os.ReadDir(head)
	require.NoError(t, err)
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	require.Equal(t, []string{".gitignore", "a.go", "go.mod"}, names)

	require.NoError(t, os.WriteFile(filepath.Join(repository, "b.go"), []byte("package a\n"), 0o600))
	err = Checkout(t.Context(), repository, filepath.Join(t.TempDir(), "head"))
	require.ErrorContains(t, err, "?? b.go")
	require.ErrorContains(t, err, "-dirty")
}

func TestAProxyHasTheFilesOfAModuleWithoutNestedModules(t *testing.T) {
	modules := mustLoad(t, tree(t, "module "+rootPath+"/store\n"))
	proxy := t.TempDir()
	require.NoError(t, WriteProxy(proxy, modules[0], "v0.1.0"))

	versions := filepath.Join(proxy, rootPath, "@v")
	list, err := os.ReadFile(filepath.Join(versions, "list"))
	require.NoError(t, err)
	require.Equal(t, "v0.1.0\n", string(list))
	mod, err := os.ReadFile(filepath.Join(versions, "v0.1.0.mod"))
	require.NoError(t, err)
	require.Equal(t, "module "+rootPath+"\n", string(mod))
	info, err := os.ReadFile(filepath.Join(versions, "v0.1.0.info"))
	require.NoError(t, err)
	require.Contains(t, string(info), `"Version":"v0.1.0"`)

	archive, err := zip.OpenReader(filepath.Join(versions, "v0.1.0.zip"))
	require.NoError(t, err)
	defer archive.Close()
	var names []string
	for _, f := range archive.File {
		names = append(names, f.Name)
	}
	require.ElementsMatch(t, []string{rootPath + "@v0.1.0/go.mod", rootPath + "@v0.1.0/a.go"}, names)
}
