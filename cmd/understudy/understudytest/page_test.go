package understudytest

import (
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/cmd/understudy/internal/cli"
	"github.com/understudy-go/understudy/cmd/understudy/internal/client"
	"github.com/understudy-go/understudy/cmd/understudy/internal/rehearse"
	"github.com/understudy-go/understudy/cmd/understudy/internal/report"
	"github.com/understudy-go/understudy/cmd/understudy/internal/roll"
	"github.com/understudy-go/understudy/cmd/understudy/internal/status"
)

func TestThePageShowsTheHelpAndNamesEveryFieldAndKind(t *testing.T) {
	page, err := os.ReadFile("../../../docs/cli.md")
	require.NoError(t, err)
	require.Contains(t, string(page), "$ understudy help\n"+runWith(t, cli.Env{}, "help").out+"```\n")
	for _, answer := range []any{report.Summary{}, report.JournalUse{}, report.Problem{}, report.Why{}, report.Member{}, report.Singleton{}, report.Singletons{}, report.Safe{}, report.Events{}, report.GivenUp{}, report.GivenUpMessage{}, status.Event{}, client.Drain{}, status.DeadLetters{}, status.DeadLetter{}, status.Resent{}, report.Projections{}, status.Projection{}, status.HeldID{}, status.Retried{}, rehearse.Result{}, rehearse.Finding{}, rehearse.Example{}, roll.Step{}} {
		for field := range reflect.TypeOf(answer).Fields() {
			name := field.Tag.Get("json")
			if !field.IsExported() {
				continue
			}
			require.True(t, strings.Contains(string(page), "`"+name+"`") || strings.Contains(string(page), "`"+name+"[]`"), "%T: %s", answer, name)
		}
	}
	for _, kind := range []string{report.Waiting, report.NotReady, report.Unreachable, report.Down, report.NoLeader, report.CrashLoop, report.Nowhere, report.Mismatch, report.NotRunning, report.Unknown, report.Link, report.Journal, report.Projection, report.Placement, report.Workflow, report.Circle, report.Slow, report.Backlog} {
		require.Contains(t, string(page), "\n| `"+kind+"` |")
	}
}
