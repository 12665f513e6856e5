package understudytest

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/cluster"
	"github.com/understudy-go/understudy/cmd/understudy/internal/cli"
	"github.com/understudy-go/understudy/persistence/journal"
)

// A node is a real node on the loopback interface that serves its status.
type node struct {
	*cluster.Node
	server *httptest.Server
	url    string
}

// start starts nodes one after the other; the first is the seed of all. Their handlers have opts.
func start(t *testing.T, names []string, opts ...cluster.HandlerOption) []node {
	t.Helper()
	return startWith(t, func(*cluster.Config) {}, names, opts...)
}

func startWith(t *testing.T, tune func(*cluster.Config), names []string, opts ...cluster.HandlerOption) []node {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var nodes []node
	var seeds []string
	store := journal.NewMemory()
	for _, name := range names {
		cfg := cluster.Config{Name: "shop", NodeID: name, Seeds: seeds, AppVersion: "v1.2.0", Journal: store, Logger: zap.NewNop()}
		tune(&cfg)
		n, err := cluster.Start(ctx, cfg)
		require.NoError(t, err)
		t.Cleanup(func() {
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
			defer cancel()
			_ = n.Shutdown(ctx) // some have ended before
		})
		mux := http.NewServeMux()
		mux.Handle("/cluster/", http.StripPrefix("/cluster", n.Handler(opts...)))
		server := httptest.NewServer(mux)
		t.Cleanup(server.Close)
		nodes = append(nodes, node{n, server, server.URL + "/cluster/"})
		seeds = []string{nodes[0].Address()}
	}
	for _, n := range nodes {
		settle(t, n, func(v cluster.View) bool { return v.Converged && len(v.Members) == len(names) })
	}
	return nodes
}

// settle waits until a view of n is as it should be.
func settle(t *testing.T, n node, is func(cluster.View) bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	for v := range n.Views(ctx) {
		if is(v) {
			return
		}
	}
	require.Fail(t, "the cluster does not come to it")
}

func allow(*http.Request) error { return nil }

// A result is what the command does with its arguments.
type result struct {
	code        int
	out, errors string
}

// run runs the command for a node.
func (n node) run(t *testing.T, args ...string) result {
	t.Helper()
	return runWith(t, cli.Env{}, append([]string{args[0], "-url", n.url}, args[1:]...)...)
}

func runWith(t *testing.T, env cli.Env, args ...string) result {
	t.Helper()
	var out, errors bytes.Buffer
	env.Stdout, env.Stderr = &out, &errors
	if env.Stdin == nil {
		env.Stdin = strings.NewReader("")
	}
	if env.Getenv == nil {
		env.Getenv = func(string) string { return "" }
	}
	code := cli.Run(t.Context(), env, args)
	return result{code, out.String(), errors.String()}
}

// eventually runs the command until its output has a text, as singletons start after the nodes.
func (n node) eventually(t *testing.T, text string, args ...string) result {
	t.Helper()
	var last result
	require.Eventually(t, func() bool { //nolint:forbidigo // real nodes in real time
		last = n.run(t, args...)
		return strings.Contains(last.out, text)
	}, 20*time.Second, 50*time.Millisecond, "%s: %+v", text, &last)
	return last
}

// asJSON returns the output of a command with -json.
func asJSON[T any](t *testing.T, r result) (v T) {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(r.out))
	d.DisallowUnknownFields()
	require.NoError(t, d.Decode(&v), "%+v", r)
	return v
}

// quick makes a singleton that fails start again soon. However slow a start is, it is a failure.
var quick = actor.Backoff{Min: time.Millisecond, Max: 10 * time.Millisecond, Reset: time.Hour}

// without reports whether a view has no member with a name.
func without(name string) func(cluster.View) bool {
	return func(v cluster.View) bool {
		return !slices.ContainsFunc(v.Members, func(m cluster.Member) bool { return m.Name == name })
	}
}
