package prometheus_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/lab/busy"
)

// A watch waits for alerts of a server, and notes which.
type watch struct {
	server
	fired map[string]bool // the names of the alerts that were awaited
}

// await lets something go wrong, and again and again what cause returns, until each of the alerts
// has fired. None of them fires before.
func (w *watch) await(t *testing.T, cause func() (again func()), alerts ...string) {
	t.Helper()
	missing := map[string]bool{}
	for _, a := range alerts {
		require.NotContains(t, w.firing(t), a, "nothing has caused it yet")
		missing[a] = true
		name, _, _ := strings.Cut(a, " ")
		w.fired[name] = true
	}
	again := cause()
	var last []string
	ended := every(t, func() bool {
		again()
		last = w.firing(t)
		for _, a := range last {
			delete(missing, a)
		}
		return len(missing) == 0
	})
	require.True(t, ended, "%v do not fire, but %v", missing, last)
}

// Each alert fires in a real Prometheus that scrapes real programs, because something goes wrong in
// them, and none fires before.
func TestEachAlertFiresInARealPrometheus(t *testing.T) {
	program(t, "prometheus")
	pages := []*page{newPage(t), newPage(t), newPage(t), newPage(t)}
	w := &watch{startServer(t, pages), map[string]bool{}}
	p, other := start(t), start(t) // while the server starts
	shop, here := pages[:2], " "+pages[0].address
	once := func() {}

	show(shop, p)
	require.True(t, every(t, func() bool {
		require.NoError(t, p.Sell(t.Context(), "hat"))
		return w.holds(t, "count(count_over_time(understudy_converged[1m]) >= 4) == 2")
	}))
	require.Empty(t, w.firing(t), "the program is healthy")

	w.await(t, func() func() { show(pages[2:], other); return once },
		"UnderstudyTwoClusters", "UnderstudySingletonTwice ledger")

	w.await(t, func() func() { return torment(t, p, other) },
		"UnderstudySingletonMissing homeless", "UnderstudySingletonMismatch mismatched", "UnderstudySingletonStuck stuck",
		"UnderstudyCrashLoop broken", "UnderstudyShardsHomeless unhosted", "UnderstudyLeaseHeldByNobody unleased",
		"UnderstudyDeadLetters", "UnderstudyActorFailures clumsy", "UnderstudySlowHandler"+here, "UnderstudyMailboxGrows blocked"+here, "UnderstudyRequestsWait blocked"+here,
		"UnderstudyFencedWrites sqlite", "UnderstudyJournalErrors sqlite closed", "UnderstudyJournalSlow memory", "UnderstudyProjectionLag lagging")

	w.await(t, func() func() { shop[1].hide(); require.NoError(t, p.Crash(t.Context())); return once },
		"UnderstudyMemberUnreachable", "UnderstudyNotConverged"+here)

	for _, r := range readRules(t).alerts() {
		require.True(t, w.fired[r.Alert], "nothing makes %s fire", r.Alert)
	}
}

// show lets each node of p have one of the pages.
func show(pages []*page, p *busy.Program) {
	for i, n := range p.Nodes {
		pages[i].show(n)
	}
}

// torment lets all sorts of things go wrong in p, and a singleton be stuck in other. It returns
// what is to go wrong again and again.
func torment(t *testing.T, p, other *busy.Program) (again func()) {
	t.Helper()
	p.SpawnBroken()
	p.SpawnHomeless()
	p.SpawnMismatched()
	p.SpawnUnleased()
	require.NoError(t, p.StartUnhosted())
	require.NoError(t, p.FenceWriter(t.Context()))
	require.NoError(t, p.FailJournal(t.Context()))
	require.NoError(t, p.SpawnLagging(t.Context()))
	require.NoError(t, other.LeaveStuck(t.Context()))
	clumsy, blocked, slow := p.SpawnClumsy(), p.SpawnBlocked(), p.SpawnSlowWriter()
	go func() {
		_, _ = actor.AskTimeout(t.Context(), blocked, time.Hour, func(actor.ActorRef[int]) string { return "hello?" })
	}()
	return func() {
		p.LoseMessage()
		clumsy.Tell("a vase")
		slow.Tell(busy.Sale{Item: "hat"})
		for range 200 {
			blocked.Tell("hello")
		}
	}
}
