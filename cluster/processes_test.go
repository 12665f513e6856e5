package cluster

import (
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/cluster/internal/membership"
	"github.com/understudy-go/understudy/internal/volatile"
)

func TestAJournalInMemoryIsReportedOnceTheClusterHasAnotherProcess(t *testing.T) {
	core, logs := observer.New(zap.WarnLevel)
	n := &Node{System: actor.NewSystem("processes", actor.WithLogger(zap.New(core)))}
	inThisProcess.Store("here:1", nil)
	here, there := membership.Member{Name: "anna", Address: "here:1"}, membership.Member{Name: "bert", Address: "there:1"}
	volatile.Of(n.System).Used("counter-1")
	noteProcesses(n, membership.View{Members: []membership.Member{here}})
	require.Zero(t, logs.Len(), "nodes of a test may share a journal in memory")
	for range 2 {
		noteProcesses(n, membership.View{Members: []membership.Member{here, there}})
		require.Equal(t, 1, logs.Len())
	}
	require.Equal(t, map[string]any{"id": "counter-1", "member": "bert"}, logs.All()[0].ContextMap())
	require.NoError(t, n.System.Shutdown(t.Context()))
}
