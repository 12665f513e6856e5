package report

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/cmd/understudy/internal/status"
)

var noon = time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC)

// healthy is a cluster of three, as anna sees it. anna is the leader and runs the ledger.
func healthy() status.Snapshot {
	s := status.Snapshot{
		Cluster: "shop", Time: noon, Converged: true, Leader: "a:1#1", AppVersions: []string{"v1"},
		Live: []status.Check{{OK: true}}, Ready: []status.Check{{OK: true}, {OK: true}},
	}
	for i, name := range []string{"anna", "bert", "cleo"} {
		s.Members = append(s.Members, status.Member{
			ID: name[:1] + ":1#1", Name: name, Address: name[:1] + ":1", Status: "up", Number: uint64(i + 1), Roles: []string{"worker"}, Reachable: true,
		})
	}
	s.Self = s.Members[0]
	s.Singletons = []status.Singleton{{
		Name: "ledger", Phase: "host", Host: "a:1#1", Here: true, Generation: "3.1", Term: 3, Managers: []string{"a:1#1", "b:1#1"},
		Placement: "the oldest", AtHost: &status.AtHost{Phase: "host", Starts: 1},
	}}
	return s
}

// changed is a healthy cluster after a change.
func changed(change func(*status.Snapshot)) status.Snapshot {
	s := healthy()
	change(&s)
	return s
}

func TestNothingIsWrongInAHealthyCluster(t *testing.T) {
	why, err := WhyOf(healthy(), status.Actors{}, "")
	require.NoError(t, err)
	require.Equal(t, Why{OK: true, Nodes: []string{"anna"}, Problems: []Problem{}, Silent: []string{}}, why)
	require.Equal(t, Safe{Safe: true, Node: "anna", Reasons: []string{}, Notes: []string{"What runs here will move: ledger."}}, SafeOf(healthy(), status.Details{}))
	require.Equal(t, Summary{
		Cluster: "shop", Node: "anna", Status: "up", Leader: "anna", Converged: true, Members: map[string]int{"up": 3},
		Unreachable: []string{}, AppVersions: []string{"v1"}, Singletons: 1, Problems: []Problem{},
		Links: map[string]int{}, Journals: []JournalUse{}, Placed: map[string]int{}, Backlogs: []status.Backlog{},
	}, SummaryOf(healthy(), status.Actors{}, status.Details{}))
}

func TestWhySaysWhatIsWrongInSentences(t *testing.T) {
	soon := noon.Add(12*time.Second + 340*time.Millisecond)
	for name, test := range map[string]struct {
		change func(*status.Snapshot)
		want   []Problem
	}{
		"something waits": {
			func(s *status.Snapshot) { s.Waiting = []string{"A majority is missing."} },
			[]Problem{{Kind: Waiting, Text: "A majority is missing."}},
		},
		"the node is not ready": {
			func(s *status.Snapshot) { s.Ready[1] = status.Check{Reason: "this node is joining"} },
			[]Problem{{Kind: NotReady, About: "anna", Text: "anna is not ready: this node is joining."}},
		},
		"nobody leads": {
			func(s *status.Snapshot) { s.Leader = "" },
			[]Problem{{Kind: NoLeader, Text: "No member leads the cluster."}},
		},
		"a member is unreachable": {
			func(s *status.Snapshot) {
				s.Members[2].Reachable, s.Members[2].UnreachableBy = false, []string{"a:1#1", "b:1#1"}
			},
			[]Problem{{Kind: Unreachable, About: "cleo", Text: "cleo is unreachable: anna and bert do not hear from it."}},
		},
		"a member is unreachable for one": {
			func(s *status.Snapshot) {
				s.Members[2].Reachable, s.Members[2].UnreachableBy = false, []string{"gone:1#1"}
			},
			[]Problem{{Kind: Unreachable, About: "cleo", Text: "cleo is unreachable: gone:1#1 does not hear from it."}},
		},
		"a member is down": {
			func(s *status.Snapshot) { s.Members[1].Status, s.Members[1].Reachable = "down", false },
			[]Problem{{Kind: Down, About: "bert", Text: "bert is down: the cluster has given it up, and it is not removed yet."}},
		},
		"a singleton fails": {
			func(s *status.Snapshot) {
				one := &s.Singletons[0]
				one.CrashLoop, one.Why = true, "it is restarted"
				one.AtHost.LastError, one.AtHost.FailedAt = "no table", &noon
			},
			[]Problem{{Kind: CrashLoop, About: "ledger", Text: "ledger fails again and again on anna: it is restarted. Its last failure at 12:00:00: no table."}},
		},
		"a singleton waits": {
			func(s *status.Snapshot) {
				one := &s.Singletons[0]
				one.Phase, one.Here, one.Why, one.Obstacle = "asking", false, "it asks the others", "the lease is taken"
				one.WaitingFor, one.NotBefore = []string{"b:1#1"}, &soon
			},
			[]Problem{{
				Kind: NotRunning, About: "ledger", NotBefore: &soon,
				Text: "ledger does not run: it asks the others. The last obstacle: the lease is taken. It waits for the consent of bert. It may start in 12.3s.",
			}},
		},
		"a singleton can run nowhere": {
			func(s *status.Snapshot) {
				s.Singletons[0] = status.Singleton{Name: "ledger", Phase: "pending", Nowhere: true, Why: `no member has the role "x"`}
			},
			[]Problem{{Kind: Nowhere, About: "ledger", Text: `ledger can run on no member: no member has the role "x".`}},
		},
		"a singleton differs": {
			func(s *status.Snapshot) {
				s.Singletons[0].Mismatch, s.Singletons[0].Why = "role", "it is another: role"
			},
			[]Problem{{Kind: Mismatch, About: "ledger", Text: "ledger takes no part on anna, because it differs from the same singleton elsewhere: role."}},
		},
		"a node finds a problem itself": {
			func(s *status.Snapshot) {
				s.Problems = []status.Problem{{Kind: "link", About: "bert", Text: "Messages to bert wait."}}
			},
			[]Problem{{Kind: Link, About: "bert", Text: "Messages to bert wait."}},
		},
		"a singleton of other members": {
			func(s *status.Snapshot) {
				s.Singletons[0] = status.Singleton{Name: "ledger", Why: "this node has no manager for it"}
			},
			[]Problem{{Kind: Unknown, About: "ledger", Text: "It is not known whether ledger runs: this node has no manager for it."}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := changed(test.change)
			why, err := WhyOf(s, status.Actors{}, "")
			require.NoError(t, err)
			for i := range test.want {
				test.want[i].Node = "anna"
			}
			require.Equal(t, Why{Nodes: []string{"anna"}, Problems: test.want, Silent: []string{}}, why)
			require.Equal(t, test.want, SummaryOf(s, status.Actors{}, status.Details{}).Problems)
			require.Contains(t, SafeOf(s, status.Details{}).Reasons, test.want[0].Text)
			require.False(t, SafeOf(s, status.Details{}).Safe)
		})
	}
}

func TestWhyOfOneNameIsAboutItAlone(t *testing.T) {
	s := changed(func(s *status.Snapshot) {
		s.Members[2].Reachable, s.Singletons[0].Why = false, "it waits"
		s.Waiting = []string{"something"}
	})
	for name, kind := range map[string]string{"cleo": Unreachable, "ledger": NotRunning} {
		why, err := WhyOf(s, status.Actors{}, name)
		require.NoError(t, err)
		require.Len(t, why.Problems, 1)
		require.Equal(t, kind, why.Problems[0].Kind)
	}
	why, err := WhyOf(s, status.Actors{}, "bert")
	require.NoError(t, err)
	require.True(t, why.OK)
	_, err = WhyOf(s, status.Actors{}, "nobody")
	require.EqualError(t, err, `anna knows no singleton and no member "nobody"`)
}

func TestWhyKnowsWhatAProblemIsAbout(t *testing.T) {
	s := changed(func(s *status.Snapshot) {
		s.Problems = []status.Problem{{Kind: Placement, About: "disk-1", Text: "disk-1 is not placed."}}
	})
	a := status.Actors{Problems: []status.Problem{{Kind: Slow, About: "/user/till", Text: "A handler of /user/till is slow."}}}
	why, err := WhyOf(s, a, "disk-1")
	require.NoError(t, err)
	require.Equal(t, []Problem{{Kind: Placement, About: "disk-1", Text: "disk-1 is not placed.", Node: "anna"}}, why.Problems)
	why, err = WhyOf(s, a, "/user/till")
	require.NoError(t, err)
	require.Equal(t, Slow, why.Problems[0].Kind)
	require.Len(t, SummaryOf(s, a, status.Details{}).Problems, 2)
}

func TestASummaryCountsLinksJournalsAndPlacedActors(t *testing.T) {
	sum := SummaryOf(healthy(), status.Actors{}, status.Details{
		Links: []status.Link{{State: "connected"}, {State: "failing"}, {State: "connected"}}, LinksLeft: 4,
		Journals:  []status.Journal{{Name: "sqlite", Appends: status.Calls{Count: 12}, Errors: map[string]uint64{"fenced": 1, "full": 2, "closed": 3}}},
		Placement: &status.Placement{States: map[string]int{"running": 5, "unplaced": 1}},
	})
	require.Equal(t, map[string]int{"connected": 2, "failing": 1, "not listed": 4}, sum.Links)
	require.Equal(t, []JournalUse{{Journal: "sqlite", Appends: 12, Errors: 5, Fenced: 1}}, sum.Journals)
	require.Equal(t, map[string]int{"running": 5, "unplaced": 1}, sum.Placed)
}

func TestItIsNotSafeToRestartANode(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*status.Snapshot)
		want   string
	}{
		"while another one leaves": {
			func(s *status.Snapshot) { s.Members[2].Status = "leaving" }, "cleo is leaving.",
		},
		"that is alone": {
			func(s *status.Snapshot) { s.Members, s.Singletons = s.Members[:1], nil },
			"No other member is up: what runs here is away until this node is back.",
		},
		"that does not agree with the others": {
			func(s *status.Snapshot) { s.Converged = false }, "The members do not agree on the membership.",
		},
		"whose singleton has no other manager": {
			func(s *status.Snapshot) { s.Singletons[0].Managers = []string{"a:1#1"} },
			"ledger runs here, and no other member can run it: no other member that is up and reachable has a manager for it.",
		},
		"whose singleton must be there": {
			func(s *status.Snapshot) { s.Singletons[0].Placement = `the node "anna"` },
			`ledger runs here, and no other member can run it: its place is the node "anna".`,
		},
		"whose singleton needs a role": {
			func(s *status.Snapshot) { s.Singletons[0].Placement = `the oldest of role "vault"` },
			`ledger runs here, and no other member can run it: its place is the oldest of role "vault".`,
		},
		"while a singleton moves": {
			func(s *status.Snapshot) { s.Singletons[0].Phase, s.Singletons[0].Here = "handing over", false },
			"ledger moves: its manager here is handing over.",
		},
		"with messages that wait": {
			func(s *status.Snapshot) { s.Singletons[0].Held, s.Singletons[0].Unacknowledged = 2, 3 },
			"5 messages to ledger wait on this node, and may be lost.",
		},
	} {
		t.Run(name, func(t *testing.T) {
			safe := SafeOf(changed(test.change), status.Details{})
			require.False(t, safe.Safe)
			require.Equal(t, []string{test.want}, safe.Reasons)
		})
	}
	for name, placement := range map[string]string{"its role": `the oldest of role "worker"`, "its name": `the node "bert"`, "words of a newer release": "wherever it likes"} {
		require.True(t, SafeOf(changed(func(s *status.Snapshot) { s.Singletons[0].Placement = placement }), status.Details{}).Safe, name)
	}
}

func TestWhatDoesNotMakeARestartUnsafeIsANote(t *testing.T) {
	safe := SafeOf(changed(func(s *status.Snapshot) {
		s.AppVersions, s.Unanswered, s.SingletonsLeftOut, s.Singletons = []string{"v1", "v2"}, []string{"b:1#1"}, 7, nil
	}), status.Details{})
	require.True(t, safe.Safe)
	require.Equal(t, []string{
		"Members have several versions of the application: v1, v2.", "No report on singletons from bert.",
		"7 singletons were not looked at; the node lists those with problems first.",
	}, safe.Notes)
}

func TestMembersAreListedByAge(t *testing.T) {
	s := changed(func(s *status.Snapshot) {
		s.Members[0].Number, s.Members[1].Number = 0, 9
		s.Members[1].UnreachableBy = []string{"c:1#1"}
	})
	all := MembersOf(s).Members
	require.Equal(t, []string{"cleo", "bert", "anna"}, []string{all[0].Name, all[1].Name, all[2].Name})
	require.Equal(t, Member{
		Name: "anna", Address: "a:1", Status: "up", Roles: []string{"worker"}, Leader: true, Asked: true, Reachable: true, UnreachableBy: []string{},
	}, all[2])
	require.Equal(t, []string{"cleo"}, all[1].UnreachableBy)
}

func TestSingletonsAreListedWithWhatTheirHostsReport(t *testing.T) {
	s := changed(func(s *status.Snapshot) {
		s.SingletonsLeftOut = 4
		s.Singletons = append(s.Singletons, status.Singleton{
			Name: "stock", Phase: "standby", Host: "b:1#1", Term: 8,
			AtHost: &status.AtHost{Phase: "host", Starts: 5, Failures: 4, LastError: "no table"},
		})
	})
	all, err := SingletonsOf(s, "")
	require.NoError(t, err)
	require.Equal(t, 4, all.LeftOut)
	require.Equal(t, Singleton{Name: "ledger", Host: "anna", Running: true, Phase: "host", Generation: "3.1", Placement: "the oldest", Starts: 1}, all.Singletons[0])
	one, err := SingletonsOf(s, "stock")
	require.NoError(t, err)
	require.Equal(t, Singletons{Singletons: []Singleton{{
		Name: "stock", Host: "bert", Running: true, Phase: "standby", Generation: "term 8", Starts: 5, Failures: 4, LastError: "no table",
	}}}, one)
	_, err = SingletonsOf(s, "nothing")
	require.EqualError(t, err, `anna knows no singleton "nothing"`)
}

func TestOnlyAKnownMemberIsTakenDownAndOnlyWhereActionsAreAllowed(t *testing.T) {
	require.ErrorIs(t, CanBeDowned(healthy(), "cleo"), status.ErrNoActions)
	allowed := changed(func(s *status.Snapshot) { s.Actions = true })
	require.NoError(t, CanBeDowned(allowed, "cleo"))
	require.EqualError(t, CanBeDowned(allowed, "dora"), `anna knows no member "dora"; there are anna, bert, cleo`)
}

func TestWhyTellsOfASingletonThatRunsAndDoesNotAnswer(t *testing.T) {
	a := status.Actors{Handlers: []status.Handler{
		{Path: "/user/ledger/instance", Message: "bank.Entry", Seconds: 12.3},
		{Path: "/user/other/instance", Message: "bank.Entry", Seconds: 12},
	}}
	why, err := WhyOf(healthy(), a, "ledger")
	require.NoError(t, err)
	require.False(t, why.OK)
	require.Equal(t, []Problem{{Kind: Slow, About: "ledger", Text: "ledger runs on anna, but does not answer: its handler of bank.Entry has been under way for 12s.", Node: "anna"}}, why.Problems)
	a.Handlers[0].Seconds = 0.9
	why, err = WhyOf(healthy(), a, "ledger")
	require.NoError(t, err)
	require.True(t, why.OK)
}

// The next program may be what the run waits for.
func TestARunThatIsHeldDoesNotForbidARestart(t *testing.T) {
	held := status.Problem{Kind: Workflow, About: "order", Text: "Run 4711 of type order is held: the function has panicked."}
	s := status.Snapshot{Problems: []status.Problem{held}}
	why, err := WhyOf(s, status.Actors{}, "")
	require.NoError(t, err)
	require.Equal(t, Workflow, why.Problems[0].Kind)
	require.NotContains(t, SafeOf(s, status.Details{}).Reasons, held.Text)
}
