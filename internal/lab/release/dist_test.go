package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	cdx "github.com/CycloneDX/cyclonedx-go"
	"github.com/stretchr/testify/require"
	"github.com/xeipuuv/gojsonschema"
)

func TestTwoPeopleBuildTheSameBinary(t *testing.T) {
	dir := write(t, map[string]string{
		"LICENSE":       "as you like\n",
		"cmd/x/go.mod":  "module " + rootPath + "/cmd/x\n",
		"cmd/x/main.go": "package main\n\nfunc main() { println(1) }\n",
	})
	command := mustLoad(t, dir)[0]
	here := platform{runtime.GOOS, runtime.GOARCH}
	build := func() string {
		dir := t.TempDir()
		t.Cleanup(func() { removeAll(dir) })
		u, err := newBuilder(t.Context(), command, "v0.1.0", dir)
		require.NoError(t, err)
		cache, err := output(t.Context(), root, "go", "env", "GOCACHE")
		require.NoError(t, err)
		u.env = append(u.env, "GOCACHE="+strings.TrimSpace(cache)) // a release has none, and takes minutes
		file, err := u.build(t.Context(), command, here)
		require.NoError(t, err)
		return file
	}
	one, other, kept := build(), build(), filepath.Join(t.TempDir(), here.file(command, "v0.1.0"))
	require.NoError(t, keepEqual(one, other, kept))
	require.FileExists(t, kept)

	require.NoError(t, os.WriteFile(one, []byte("changed"), 0o600))
	require.ErrorContains(t, keepEqual(one, other, kept), "two builds of x_v0.1.0_")
}

// A binary has the checksum of its module, so it is the same from the public proxy only if ours has
// the same files. The go command makes those of the public proxy from a repository.
func TestTheProxyOfFilesHasTheChecksumThatTheGoCommandComputes(t *testing.T) {
	dir := write(t, map[string]string{
		"LICENSE":           "as you like\n",
		"go.mod":            "module " + rootPath + "\n",
		"cmd/x/go.mod":      "module " + rootPath + "/cmd/x\n",
		"cmd/x/main.go":     "package main\n\nfunc main() {}\n",
		"cmd/x/test/go.mod": "module " + rootPath + "/cmd/x/test\n",
	})
	for _, args := range [][]string{{"init", "--quiet"}, {"add", "."}, {"commit", "--quiet", "--message", "First"}, {"tag", "cmd/x/v0.1.0"}} {
		_, err := output(t.Context(), dir, "git", append([]string{"-c", "user.name=Test", "-c", "user.email=test@example.com"}, args...)...)
		require.NoError(t, err)
	}
	proxy := t.TempDir()
	command := mustLoad(t, dir)[1]
	require.Equal(t, "cmd/x", command.Name)
	require.NoError(t, WriteProxy(proxy, command, "v0.1.0"))

	sum := func(from string) string {
		cache := t.TempDir()
		t.Cleanup(func() { removeAll(cache) })
		cmd := exec.CommandContext(t.Context(), "go", "mod", "download", "-json", command.Path()+"@v0.1.0")
		cmd.Dir = cache
		cmd.Env = append(os.Environ(), "GOPROXY="+from, "GOMODCACHE="+cache, "GOSUMDB=off", "GONOPROXY=none", "GOFLAGS=",
			"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=url.file://"+dir+".insteadOf", "GIT_CONFIG_VALUE_0=https://"+rootPath,
			"GIT_ALLOW_PROTOCOL=file")
		said, err := outputOf(cmd)
		require.NoError(t, err)
		var got struct{ Sum string }
		require.NoError(t, json.Unmarshal([]byte(said), &got))
		return got.Sum
	}
	require.Equal(t, sum("direct"), sum("file://"+proxy))
}

// The commands are those of docs/releasing.md and SECURITY.md.
func TestUsersCanVerifyADownload(t *testing.T) {
	dir := write(t, map[string]string{"understudy": "a program", "understudy.cdx.json": "{}"})
	key := filepath.Join(t.TempDir(), "release")
	run := func(line string) error {
		cmd := exec.CommandContext(t.Context(), "sh", "-euc", line)
		cmd.Dir = dir
		_, err := outputOf(cmd)
		return err
	}
	require.NoError(t, run("ssh-keygen -q -t ed25519 -N '' -C '' -f "+key))
	require.NoError(t, writeChecksums(dir))
	require.NoError(t, sign(t.Context(), filepath.Join(dir, checksums), key))
	require.NoError(t, run(`echo "release@understudy-go namespaces=\"file\" $(cat `+key+`.pub)" >allowed_signers`))

	page, err := os.ReadFile(filepath.Join(root, "SECURITY.md"))
	require.NoError(t, err)
	_, after, found := strings.Cut(string(page), "```sh\n")
	require.True(t, found)
	verify, _, found := strings.Cut(after, "```")
	require.True(t, found)
	require.NoError(t, run(verify))

	require.NoError(t, os.WriteFile(filepath.Join(dir, "understudy"), []byte("another program"), 0o600))
	require.ErrorContains(t, run(verify), "WARNING")
	require.NoError(t, writeChecksums(dir))
	require.Error(t, run(verify), "the signature is of other checksums")
	require.ErrorContains(t, sign(t.Context(), filepath.Join(dir, checksums), key+".missing"), "not signed")
}

func TestTheBillOfMaterialsOfTheCommandIsValidAndAlwaysTheSame(t *testing.T) {
	one, other := t.TempDir(), t.TempDir()
	var commands []Module
	for _, m := range mustLoad(t, root) {
		if m.Command() {
			commands = append(commands, m)
		}
	}
	require.Len(t, commands, 1)
	require.NoError(t, WriteBOMs(t.Context(), commands, one))
	require.NoError(t, WriteBOMs(t.Context(), commands, other))
	data, err := os.ReadFile(filepath.Join(one, "understudy.cdx.json"))
	require.NoError(t, err)
	again, err := os.ReadFile(filepath.Join(other, "understudy.cdx.json"))
	require.NoError(t, err)
	require.Equal(t, string(data), string(again))
	requireCycloneDX(t, data)

	var bom cdx.BOM
	require.NoError(t, cdx.NewBOMDecoder(strings.NewReader(string(data)), cdx.BOMFileFormatJSON).Decode(&bom))
	require.Equal(t, rootPath+"/cmd/understudy", bom.Metadata.Component.Name)
	names := map[string]cdx.Component{}
	for _, c := range *bom.Components {
		names[c.Name] = c
	}
	require.Contains(t, names, "std")
	require.Len(t, *names["golang.org/x/term"].Hashes, 1)
	require.Contains(t, *(*bom.Dependencies)[len(*bom.Dependencies)-1].Dependencies, names["std"].BOMRef)
	require.Len(t, *bom.Dependencies, len(*bom.Components)+1)
}

// requireCycloneDX validates a bill of materials with the schema that comes with the library.
func requireCycloneDX(t *testing.T, data []byte) {
	t.Helper()
	library := folder(t, Module{Dir: "."}, "github.com/CycloneDX/cyclonedx-go")
	load := func(name string) gojsonschema.JSONLoader {
		text, err := os.ReadFile(filepath.Join(library, "schema", name))
		require.NoError(t, err)
		return gojsonschema.NewBytesLoader(text)
	}
	schemas := gojsonschema.NewSchemaLoader()
	require.NoError(t, schemas.AddSchemas(load("spdx.schema.json"), load("jsf-0.82.schemax.json")))
	schema, err := schemas.Compile(load("bom-1.6.schema.json"))
	require.NoError(t, err)
	result, err := schema.Validate(gojsonschema.NewBytesLoader(data))
	require.NoError(t, err)
	require.Empty(t, result.Errors())
}
