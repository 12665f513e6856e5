package busy_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor/telemetry"
	"github.com/understudy-go/understudy/actor/telemetry/telemetrytest"
	"github.com/understudy-go/understudy/internal/lab/busy"
)

func TestAllMetricsTogetherFollowTheRules(t *testing.T) {
	p, err := busy.Start(t.Context(), t.TempDir(), 2)
	require.NoError(t, err)
	defer func() { require.NoError(t, p.Close(t.Context())) }()
	for _, n := range p.Nodes {
		telemetrytest.Check(t, n.System)
	}
	for _, f := range telemetry.Gather(p.Nodes[0].System) {
		switch f.Name {
		case "understudy_skipped_messages_total": // the nodes are of the same release
		case "understudy_mailbox_messages", "understudy_stash_messages": // only of kinds with messages that wait
		default:
			require.NotEmpty(t, f.Series, f.Name)
		}
		for _, s := range f.Series {
			for _, label := range s.Labels {
				require.NotContains(t, label, "/user/", "%s: the value of a label is no path", f.Name)
				require.NotContains(t, label, "127.0.0.1", "%s: the value of a label is no address", f.Name)
			}
		}
	}
}
