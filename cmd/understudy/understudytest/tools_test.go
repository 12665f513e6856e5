package understudytest

import (
	"context"
	"encoding/json"
	"errors"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/cluster"
	"github.com/understudy-go/understudy/cmd/understudy/internal/client"
	"github.com/understudy-go/understudy/cmd/understudy/internal/report"
	"github.com/understudy-go/understudy/cmd/understudy/internal/status"
	"github.com/understudy-go/understudy/cmd/understudy/internal/tools"
	"github.com/understudy-go/understudy/singleton"
)

// connect connects a client to the tools for a node, in this process.
func connect(t *testing.T, n node, actions bool) *mcp.ClientSession {
	t.Helper()
	c, err := client.New(client.Config{URLs: []string{n.url}, Timeout: 10 * time.Second})
	require.NoError(t, err)
	here, there := mcp.NewInMemoryTransports()
	server, err := tools.New(c, actions, "test").Connect(t.Context(), there, nil)
	require.NoError(t, err)
	session := talk(t, here)
	t.Cleanup(func() { _ = server.Wait() }) // after the client has closed
	return session
}

func talk(t *testing.T, transport mcp.Transport) *mcp.ClientSession {
	t.Helper()
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), transport, nil)
	require.NoError(t, err)
	return session
}

func names(t *testing.T, session *mcp.ClientSession) (all []string) {
	t.Helper()
	list, err := session.ListTools(t.Context(), nil)
	require.NoError(t, err)
	for _, tool := range list.Tools {
		require.NotEmpty(t, tool.Description)
		require.NotNil(t, tool.OutputSchema, tool.Name)
		require.Equal(t, !slices.Contains(changers, tool.Name), tool.Annotations.ReadOnlyHint)
		all = append(all, tool.Name)
	}
	return all
}

// call calls a tool and returns its structured answer.
func call[T any](t *testing.T, session *mcp.ClientSession, tool string, args map[string]any) (v T, failure error) {
	t.Helper()
	result, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: args})
	require.NoError(t, err)
	if result.IsError {
		return v, errors.New(result.Content[0].(*mcp.TextContent).Text)
	}
	data, err := json.Marshal(result.StructuredContent)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(data, &v))
	return v, nil
}

func must[T any](t *testing.T, session *mcp.ClientSession, tool string, args map[string]any) T {
	t.Helper()
	v, err := call[T](t, session, tool, args)
	require.NoError(t, err)
	return v
}

var changers = []string{"drain", "down", "steer"}

var readers = []string{"dead_letters", "entities", "entity", "events", "given_up", "members", "projections", "runs", "safe", "schedules", "singletons", "status", "why"}

func TestTheToolsAnswerLikeTheCommands(t *testing.T) {
	n := start(t, []string{"anna"}, cluster.AllowActions(allow))[0]
	actor.Spawn(n, behaviors.Singleton(broken, singleton.RestartBackoff(quick)), "orders")
	actor.Resolve[string](n.System, "nowhere").Tell("order")
	n.eventually(t, "crash loop", "why")
	session := connect(t, n, false)
	defer func() { require.NoError(t, session.Close()) }()
	require.Equal(t, readers, names(t, session))

	require.Equal(t, "anna", must[report.Summary](t, session, "status", nil).Leader)
	require.Equal(t, report.CrashLoop, must[report.Why](t, session, "why", map[string]any{"name": "orders"}).Problems[0].Kind)
	require.Len(t, must[report.Members](t, session, "members", nil).Members, 1)
	require.Equal(t, "orders", must[report.Singletons](t, session, "singletons", nil).Singletons[0].Name)
	require.False(t, must[report.Safe](t, session, "safe", nil).Safe)
	lost := must[status.DeadLetters](t, session, "dead_letters", map[string]any{"recipient": "nowhere", "limit": 5})
	require.Equal(t, "the ActorRef addresses no actor", lost.Letters[0].Reason)

	events := must[report.Events](t, session, "events", nil).Events
	require.Equal(t, "founding a cluster", events[0].Kind)

	_, err := call[report.Why](t, session, "why", map[string]any{"name": "nobody"})
	require.EqualError(t, err, `anna knows no singleton and no member "nobody"`)
	_, err = session.CallTool(t.Context(), &mcp.CallToolParams{Name: "drain"})
	require.ErrorContains(t, err, "drain", "it is not offered")
}

func TestTheToolsChangeTheClusterOnlyWithActions(t *testing.T) {
	nodes := start(t, []string{"anna", "bert", "cleo"}, cluster.AllowActions(allow))
	session := connect(t, nodes[0], true)
	defer func() { require.NoError(t, session.Close()) }()
	require.ElementsMatch(t, slices.Concat(changers, readers), names(t, session))
	_, err := call[any](t, session, "down", map[string]any{"member": "dora"})
	require.ErrorContains(t, err, "anna, bert, cleo")
	require.Equal(t, map[string]string{"member": "cleo", "by": "anna"}, must[map[string]string](t, session, "down", map[string]any{"member": "cleo"}))
	settle(t, nodes[0], without("cleo"))
	require.Equal(t, client.Left, must[client.Drain](t, session, "drain", nil).Outcome)
	<-nodes[0].Terminated()
}

// The test builds the command and talks to its process.
func TestTheCommandServesToolsOnItsStandardStreams(t *testing.T) {
	n := start(t, []string{"anna"})[0]
	binary := filepath.Join(t.TempDir(), "understudy")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", binary, ".")
	build.Dir = ".."
	output, err := build.CombinedOutput()
	require.NoError(t, err, string(output))

	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	var stderr strings.Builder
	cmd := exec.CommandContext(ctx, binary, "mcp", "-url", n.url)
	cmd.Stderr = &stderr
	session := talk(t, &mcp.CommandTransport{Command: cmd})
	require.Equal(t, readers, names(t, session))
	require.Equal(t, "anna", must[report.Summary](t, session, "status", nil).Node)
	require.NoError(t, session.Close(), stderr.String())
	require.Empty(t, stderr.String())
	require.Zero(t, cmd.ProcessState.ExitCode())

	version, err := exec.CommandContext(ctx, binary, "version").Output()
	require.NoError(t, err)
	require.Regexp(t, `^understudy \S+\n$`, string(version))
	require.ErrorContains(t, exec.CommandContext(ctx, binary, "status", "-url", "http://127.0.0.1:1/").Run(), "exit status 1")
}
