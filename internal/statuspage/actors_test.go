package statuspage

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/status"
)

func TestTheKindsWithMostWaitingMessagesAreShown(t *testing.T) {
	f := newFake()
	for n := range 1200 {
		f.actors.Kinds = append(f.actors.Kinds, ActorKind{Name: fmt.Sprintf("kind-%04d", n), Waiting: n % 1100, Messages: 1})
	}
	w := ask(New(f, Options{}), "GET", "/actors")
	require.Equal(t, http.StatusOK, w.Code)
	var got Actors
	require.NoError(t, json.Unmarshal(w.Body.Bytes(), &got))
	require.Len(t, got.Kinds, 1000)
	require.Equal(t, 200, got.KindsLeftOut)
	require.Equal(t, "kind-1099", got.Kinds[0].Name)
	require.Equal(t, "kind-1098", got.Kinds[1].Name)
}

func TestThePageSaysWhyNothingHappens(t *testing.T) {
	up := Snapshot{Self: Member{Status: "up"}, Leader: "10.0.0.1:7355#1"}
	alone := Snapshot{Self: Member{Status: "none"}, Waiting: []string{"This node looks for a cluster."}}
	silent := up
	silent.Waiting = []string{"cleo does not answer.", "No majority."}
	leaderless := up
	leaderless.Leader = ""
	circle := Actors{Circles: [][]string{{"/user/a", "/user/b", "/user/c"}}}
	slow := Actors{
		Handlers: []Handler{{Path: "/user/a", Kind: "till", Seconds: 12.3}}, Slow: 3,
		Kinds: []ActorKind{{Name: "stock", Waiting: 7}, {Name: "till", Waiting: 5}},
	}
	asking := slow
	asking.Slow, asking.Asks = 2, []Ask{{Asker: "/user/a", Asked: "/user/b", Seconds: 12}}
	cutOff := up
	cutOff.Problems = []status.Problem{{Text: "Messages to cleo wait."}, {Text: "Appends to the journal sqlite fail."}}
	behind := Actors{Backlogs: []Backlog{{Actor: "x", Why: "x is behind."}, {Actor: "y", Why: "y is behind."}, {Actor: "z"}}}
	quick := Actors{Handlers: []Handler{{Path: "/user/a", Seconds: 0.9}}}
	long := []string{}
	for n := range 9 {
		long = append(long, fmt.Sprint("/user/", n))
	}
	for name, c := range map[string]struct {
		s    Snapshot
		a    Actors
		want string
	}{
		"all is well":                     {up, Actors{}, ""},
		"handlers are quick":              {up, quick, ""},
		"the node is not up":              {alone, circle, "This node looks for a cluster."},
		"the node joins":                  {Snapshot{Self: Member{Status: "joining"}}, slow, ""},
		"a circle":                        {silent, circle, "Actors wait for each other: /user/a asks /user/b, /user/b asks /user/c, /user/c asks /user/a."},
		"an actor that asks itself":       {up, Actors{Circles: [][]string{{"/user/a"}, {"/user/b"}}}, "An actor waits for itself: a handler of /user/a asks its own actor. There is another circle."},
		"a long circle":                   {up, Actors{Circles: [][]string{long}}, "Actors wait for each other: /user/0 asks /user/1, /user/1 asks /user/2, /user/2 asks /user/3, /user/3 asks /user/4, 4 others ask each other, /user/8 asks /user/0."},
		"a member does not answer":        {silent, slow, "cleo does not answer. There is another reason."},
		"no leader":                       {leaderless, slow, "The cluster has no leader."},
		"a link fails":                    {cutOff, slow, "Messages to cleo wait. There is another problem."},
		"a slow handler":                  {up, slow, "A handler of /user/a has been under way for 12s; 5 messages wait in mailboxes of its kind, till. There are 2 more slow handlers."},
		"a slow handler that asks":        {up, asking, "A handler of /user/a has been under way for 12s: it waits for a reply of /user/b. There is another slow handler."},
		"a slow handler with no messages": {up, Actors{Handlers: slow.Handlers, Slow: 1}, "A handler of /user/a has been under way for 12s."},
		"an actor that is behind":         {up, behind, "x is behind. There is another backlog."},
	} {
		t.Run(name, func(t *testing.T) { require.Equal(t, c.want, stuck(c.s, c.a)) })
	}
	require.Empty(t, quick.problems())
	require.Equal(t, []status.Problem{{Kind: "backlog", About: "x", Text: "x is behind."}, {Kind: "backlog", About: "y", Text: "y is behind."}}, behind.problems())
	both := slow
	both.Circles = circle.Circles
	problems := both.problems()
	require.Len(t, problems, 2)
	require.Equal(t, status.Problem{Kind: "circle", About: "/user/a", Text: stuck(up, circle)}, problems[0])
	require.Equal(t, status.Problem{Kind: "slow handler", About: "/user/a", Text: stuck(up, slow)}, problems[1])
}
