package guide

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/effort"
	"github.com/understudy-go/understudy/internal/pgtest"
)

// The template has a second version, as a patch. It reads what the first one has stored.
func TestTheNextVersionOfTheTemplatePassesItsRehearsal(t *testing.T) {
	s, dir := pgtest.Start(t), t.TempDir()
	repository, err := filepath.Abs("../../..")
	require.NoError(t, err)
	template := filepath.Join(repository, "examples/template")
	shop1, shop2, command := filepath.Join(dir, "shop-1"), filepath.Join(dir, "shop-2"), filepath.Join(dir, "understudy")
	run(t, template, "go", "build", "-ldflags", "-X main.version=1.0.0", "-o", shop1, ".")
	run(t, template, "go", "build", "-ldflags", "-X main.version=1.1.0", "-overlay", patched(t, template, dir), "-o", shop2, ".")
	run(t, filepath.Join(repository, "cmd/understudy"), "go", "build", "-o", command, ".")
	giveNumbers(t, shop1, s.URL(), "apples", "pears", "plums")

	text := run(t, dir, command, "rehearse", "-old", shop1, "-new", shop2, "-journal", s.URL(), "-id", "numbers")
	require.Contains(t, text, "No problem, 0 notes. 1 id, 3 events and 0 snapshots were tried")
	t.Run("rolls", func(t *testing.T) { rolls(t, command, shop1, shop2, s.URL()) })

	// The way that the patch does not go: the order has another name.
	renamed := []byte(strings.ReplaceAll(string(read(t, template, "numbers.go")), "Issued struct{ Order string }", "Issued struct{ Number string }"))
	renamed = []byte(strings.ReplaceAll(string(renamed), "event.Order", "event.Number"))
	run(t, template, "go", "build", "-overlay", overlay(t, template, dir, renamed), "-o", shop2, ".")
	out, err := exec.CommandContext(t.Context(), command, "rehearse", "-old", shop1, "-new", shop2, "-journal", s.URL(), "-id", "numbers").Output() //nolint:gosec // it was built here
	require.Error(t, err)
	require.Contains(t, string(out), "PROBLEM  field:shop.issued:Order")
	require.Contains(t, string(out), "PROBLEM  state:numbers")
}

// rolls updates three nodes of the template, which need no code for it, and rolls them back.
func rolls(t *testing.T, command, before, after, database string) {
	t.Helper()
	effort.Verify(t)
	args := []string{
		"rehearse", "-old", before, "-new", after, "-journal", database, "-yes",
		"-roll", "SHOP_NODE_ID={name} SHOP_BIND={node} SHOP_SEEDS={seeds} {program} -http {http} -journal {journal}",
		"-load", "PUT http://{http}/orders/{n}/number",
	}
	text := run(t, t.TempDir(), command, args...)
	require.Contains(t, text, "No problem, ")
	require.Regexp(t, `roll n3 back +\S+ +1\.0\.0 +fine`, text)
	require.Regexp(t, `update n1 +\S+ +1\.1\.0 +fine`, text)
}

func run(t *testing.T, dir, name string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir = dir
	var problems strings.Builder
	cmd.Stderr = &problems
	out, err := cmd.Output()
	require.NoError(t, err, "%s%s", out, &problems)
	return string(out)
}

func read(t *testing.T, dir, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, name)) //nolint:gosec // of the repository
	require.NoError(t, err)
	return data
}

// patched returns an overlay of the template with its patch.
func patched(t *testing.T, template, dir string) string {
	t.Helper()
	copied := filepath.Join(dir, "patched")
	require.NoError(t, os.Mkdir(copied, 0o750))
	require.NoError(t, os.WriteFile(filepath.Join(copied, "numbers.go"), read(t, template, "numbers.go"), 0o600))
	run(t, copied, "git", "apply", filepath.Join(template, "next.patch"))
	return overlay(t, template, dir, read(t, copied, "numbers.go"))
}

func overlay(t *testing.T, template, dir string, numbers []byte) string {
	t.Helper()
	file, in := filepath.Join(dir, "numbers.go"), filepath.Join(dir, "overlay.json")
	require.NoError(t, os.WriteFile(file, numbers, 0o600))
	text, err := json.Marshal(map[string]map[string]string{"Replace": {filepath.Join(template, "numbers.go"): file}})
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(in, text, 0o600))
	return in
}

// giveNumbers runs the template until it has given the orders numbers.
func giveNumbers(t *testing.T, shop, database string, orders ...string) {
	t.Helper()
	web, node := freeAddress(t), freeAddress(t)
	cmd := exec.CommandContext(t.Context(), shop, "-http", web, "-journal", database)
	cmd.Env = append(os.Environ(), "SHOP_BIND="+node, "SHOP_SEEDS="+node)
	require.NoError(t, cmd.Start())
	for _, order := range orders {
		var last any
		require.Eventually(t, func() bool { //nolint:forbidigo // a real process
			r, err := http.NewRequestWithContext(t.Context(), http.MethodPut, fmt.Sprintf("http://%s/orders/%s/number", web, order), nil)
			require.NoError(t, err)
			answer, err := http.DefaultClient.Do(r)
			if err != nil {
				last = err
				return false
			}
			last = answer.Status
			return answer.Body.Close() == nil && answer.StatusCode == http.StatusOK
		}, 30*time.Second, 50*time.Millisecond, "%v", &last)
	}
	require.NoError(t, cmd.Process.Signal(syscall.SIGTERM))
	require.NoError(t, cmd.Wait())
}

func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // it is closed at once
	require.NoError(t, err)
	defer func() { require.NoError(t, l.Close()) }()
	return l.Addr().String()
}
