package report

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/cmd/understudy/internal/status"
)

// asked is a node that answers with a snapshot, or not at all.
type asked struct {
	status.Snapshot
	failure error
	actors  status.Actors
	details status.Details
}

func (a asked) Status(context.Context) (status.Snapshot, error) { return a.Snapshot, a.failure }
func (a asked) Actors(context.Context) (status.Actors, error)   { return a.actors, nil }
func (a asked) Details(context.Context) (status.Details, error) { return a.details, nil }
func (a asked) Failed(err error) error                          { return err }

// bert is a healthy cluster as bert sees it, after a change.
func bert(change func(*status.Snapshot)) asked {
	return asked{Snapshot: changed(func(s *status.Snapshot) {
		s.Self, s.Singletons[0].Here = s.Members[1], false
		change(s)
	})}
}

var silent = asked{failure: errors.New("no node answers; http://cleo: refused")}

func TestWhatAnotherNodeKnowsIsAProblemToo(t *testing.T) {
	entry := status.Problem{Kind: "schedule", About: "cron/bills", Text: "The last run has failed."}
	other := bert(func(s *status.Snapshot) { s.Problems, s.Waiting = []status.Problem{entry}, []string{"something"} })
	one := asked{Snapshot: changed(func(s *status.Snapshot) { s.Waiting = []string{"something"} })}

	why, err := Explain(t.Context(), []asked{one, silent, other}, "")
	require.NoError(t, err)
	require.Equal(t, Why{
		Nodes: []string{"anna", "bert"}, Silent: []string{"no node answers; http://cleo: refused"},
		Problems: []Problem{
			{Kind: Waiting, Text: "something", Node: "anna"},
			{Kind: "schedule", About: "cron/bills", Text: "The last run has failed.", Node: "bert"},
		},
	}, why)
	why, err = Explain(t.Context(), []asked{one, other}, "cron/bills")
	require.NoError(t, err, "one of them knows it")
	require.Len(t, why.Problems, 1)

	safe, err := AskSafe(t.Context(), []asked{one, silent, other})
	require.NoError(t, err)
	require.Equal(t, "anna", safe.Node)
	require.Equal(t, []string{"something", "bert says: The last run has failed."}, safe.Reasons)
	require.Contains(t, safe.Notes, "Not asked: no node answers; http://cleo: refused.")
}

func TestWhatSeveralNodesSayOfAnActorThatIsBehindIsSaidOnce(t *testing.T) {
	says := func(actor, text string) status.Problem {
		return status.Problem{Kind: Backlog, About: "understudy://shop@" + actor, Text: text}
	}
	one, other := asked{Snapshot: healthy()}, bert(func(*status.Snapshot) {})
	one.actors.Problems = []status.Problem{says("a:1/user/till", "1000 wait"), says("b:1/user/till", "2000 wait")}
	other.actors.Problems = []status.Problem{says("b:1/user/till", "2001 wait"), says("c:1/user/till", "3000 wait")}
	why, err := Explain(t.Context(), []asked{one, other}, "")
	require.NoError(t, err)
	require.Len(t, why.Problems, 3)
	require.Equal(t, "2000 wait", why.Problems[1].Text)
	safe, err := AskSafe(t.Context(), []asked{one, other})
	require.NoError(t, err)
	require.True(t, safe.Safe, safe.Reasons)
}

func TestANodeThatRunsASingletonRefutesAnotherThatDoesNotKnow(t *testing.T) {
	one := bert(func(s *status.Snapshot) {
		s.Singletons[0].Phase, s.Singletons[0].AtHost, s.Singletons[0].Why = "", nil, "this node has no manager for it"
	})
	why, err := Explain(t.Context(), []asked{one}, "")
	require.NoError(t, err)
	require.Equal(t, Unknown, why.Problems[0].Kind)
	why, err = Explain(t.Context(), []asked{one, {Snapshot: healthy()}}, "")
	require.NoError(t, err)
	require.True(t, why.OK)
	safe, err := AskSafe(t.Context(), []asked{one, {Snapshot: healthy()}})
	require.NoError(t, err)
	require.True(t, safe.Safe, safe.Reasons)
}

func TestIfNoNodeAnswersOrKnowsThatIsTheError(t *testing.T) {
	_, err := Explain(t.Context(), []asked{silent, silent}, "")
	require.ErrorIs(t, err, silent.failure)
	_, err = AskSafe(t.Context(), []asked{silent})
	require.Equal(t, silent.failure, err)
	_, err = Explain(t.Context(), []asked{{Snapshot: healthy()}, bert(func(*status.Snapshot) {})}, "nobody")
	require.ErrorContains(t, err, "bert knows no singleton")
}
