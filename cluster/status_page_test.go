package cluster

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/internal/browser"
	"github.com/understudy-go/understudy/internal/effort"
	"github.com/understudy-go/understudy/internal/history"
	"github.com/understudy-go/understudy/internal/placementstatus"
	"github.com/understudy-go/understudy/internal/shardstatus"
	"github.com/understudy-go/understudy/internal/statuspage"
	"github.com/understudy-go/understudy/internal/storestatus"
)

// drawn is true in a page that has drawn something.
const drawn = `document.body.dataset.version`

// The test uses a real browser on the loopback interface, in real time.
func TestThePageDrawsARealClusterAndFollowsIt(t *testing.T) {
	effort.Unraced(t)
	b := browser.Start(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	nodes := onLoopback(ctx, t, "anna", "bert", "cleo")
	for _, n := range nodes {
		actor.Spawn(n, behaviors.Singleton(func() actor.Behavior[int] { return behaviors.Ignore }), "ledger")
	}
	mux := http.NewServeMux()
	mux.Handle("/cluster/", http.StripPrefix("/cluster", nodes[1].Handler()))
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	t.Cleanup(server.CloseClientConnections)

	b.Open(server.URL+"/cluster/", 1400, 900, drawn)
	for _, name := range []string{"anna", "bert", "cleo"} {
		b.Await(fmt.Sprintf(`document.querySelector("#members tr[data-member=%s] .status").textContent === "up"`, name))
		b.Await(fmt.Sprintf(`document.querySelector("#drawing .member.up[data-member=%s] circle")`, name))
	}
	b.Await(`document.querySelector("#members tr[data-member=anna] .leader")`)
	require.Equal(t, 1, b.Count("#members .leader"))
	b.Await(`document.querySelector("#drawing [data-member=anna] .crown")`)
	b.Await(`document.querySelector("#drawing .self[data-member=bert]")`)
	b.Await(`document.querySelector("#drawing [data-singleton=ledger]").dataset.host === "anna"`)
	b.Await(`document.querySelector("#singletons tr[data-singleton=ledger]").textContent.includes("anna")`)
	b.Await(`document.querySelectorAll("#drawing line.mesh").length === 3`)
	b.Await(`document.getElementById("connection").textContent === "live"`)
	b.Await(`document.getElementById("ready").textContent === "ready"`)
	b.Await(`document.querySelectorAll("#links [data-peer]").length === 2`)
	b.Await(`[...document.querySelectorAll("#links [data-peer]")].every((row) => row.cells[1].textContent === "connected")`)
	require.Equal(t, true, b.Eval(`document.getElementById("placement-part").hidden && !document.getElementById("no-journals").hidden`))
	b.Shoot("three-light")

	require.NoError(t, nodes[0].Leave(ctx))
	b.Await(`!document.querySelector("#members tr[data-member=anna]")`)
	b.Await(`!document.querySelector("#drawing [data-member=anna]")`)
	b.Await(`document.querySelector("#drawing [data-singleton=ledger]").dataset.host === "bert"`)
	b.Await(`document.querySelector("#members tr[data-member=bert] .leader")`)
	b.Await(`[...document.querySelectorAll("#history [data-kind='member removed']")].some((row) => row.cells[2].textContent === "anna")`)
	b.Await(`document.querySelector("#history [data-kind='singleton started'] + tr").textContent === "hand-over from anna"`)

	nodes[2].abort(ErrEnded) // without notifying the others
	b.Await(`document.querySelector("#drawing .broken[data-from=bert][data-to=cleo]")`)
	b.Await(`document.querySelector("#drawing .unreachable[data-member=cleo]")`)
	b.Await(`!document.getElementById("waiting").hidden`)
	b.Dark(true)
	b.Shoot("broken-dark")
	b.Await(`!document.querySelector("#drawing [data-member=cleo]")`)

	require.NoError(t, nodes[1].Leave(ctx))
	b.Await(`document.getElementById("connection").textContent === "node has ended"`)
	b.Await(`document.getElementById("ready").textContent === "not ready"`)
}

func onLoopback(ctx context.Context, t *testing.T, names ...string) []*Node {
	t.Helper()
	var nodes []*Node
	var seeds []string
	for _, name := range names {
		n, err := Start(ctx, Config{Name: "shop", NodeID: name, Seeds: seeds, Roles: []string{"worker"}, Logger: logger(t)})
		require.NoError(t, err)
		t.Cleanup(func() {
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
			defer cancel()
			_ = n.Shutdown(ctx) // most of them have ended before
		})
		nodes = append(nodes, n)
		seeds = []string{nodes[0].Address()}
	}
	return nodes
}

// A still is a snapshot that does not change.
type still statuspage.Snapshot

// A stillSource shows a still.
type stillSource struct {
	still   still
	actors  statuspage.Actors
	details statuspage.Details
	history statuspage.History
	givenUp statuspage.GivenUp
}

func (stillSource) Refresh(context.Context) {}

func (stillSource) DeadLetters() statuspage.DeadLetters { return statuspage.DeadLetters{} }

func (s stillSource) GivenUp() statuspage.GivenUp { return s.givenUp }

func (s stillSource) Actors() statuspage.Actors { return s.actors }

func (s stillSource) History() statuspage.History { return s.history }

func (s stillSource) Details() statuspage.Details { return s.details }

func (s stillSource) Snapshot() (statuspage.Snapshot, <-chan struct{}) {
	return statuspage.Snapshot(s.still), make(chan struct{})
}

// crowd returns a cluster of n members with long names and the given number of singletons, some of
// them with problems.
func crowd(n, singletons int) still {
	s := still{Cluster: "warehouse-production-eu-central-1", Version: 1, Time: time.Now(), Waiting: []string{}, Absent: []string{}}
	s.Settings = statuspage.Settings{Seeds: []string{"10.0.0.1:7355"}, Downing: "keep-majority(3s)", Leader: "oldest", MinMembers: 1}
	s.Expected = statuspage.Expected{DetectionSeconds: 0.85, FailoverSeconds: new(4.05), UnfencedMarginSeconds: 13}
	s.Live, s.Ready = []statuspage.Check{{Name: "running", OK: true}}, []statuspage.Check{{Name: "membership", OK: true}}
	for i := range n {
		m := statuspage.Member{
			Name:      fmt.Sprintf("warehouse-worker-%03d.eu-central-1.compute.internal", i+1),
			Address:   fmt.Sprintf("10.0.%d.%d:7355", i/50, i%50+1),
			Status:    "up",
			Number:    uint64(i + 1),
			Roles:     []string{"worker"},
			Meta:      map[string]string{},
			Reachable: true,
		}
		m.ID = m.Address + "#1f"
		m.UnreachableBy = []string{}
		s.Members = append(s.Members, m)
	}
	s.Self, s.Leader = s.Members[n/3], s.Members[0].ID
	lost := &s.Members[n-2]
	lost.Reachable = false
	for i := range n / 2 {
		lost.UnreachableBy = append(lost.UnreachableBy, s.Members[i].ID)
	}
	s.Members[n-1].Status, s.Members[n-1].Number = "joining", 0
	s.Members[n-3].Status = "leaving"
	s.Waiting = append(s.Waiting, lost.Name+" does not answer others.")
	for i := range singletons {
		s.Singletons = append(s.Singletons, statuspage.Singleton{
			Name: fmt.Sprintf("coordinator-of-region-%d", i), Phase: "standby", Since: new(time.Now()),
			Host: s.Members[i%(n/2)*(i%2)].ID, Term: 3, Managers: []string{}, WaitingFor: []string{},
		})
	}
	if singletons > 4 {
		looping, nowhere := &s.Singletons[3], &s.Singletons[4]
		looping.CrashLoop = true
		looping.AtHost = &statuspage.AtHost{Member: looping.Host, Phase: "host", Starts: 1234, Failures: 1233, RestartsInARow: 17, LastError: "setup: relation \"orders\" does not exist", FailedAt: new(time.Now())}
		nowhere.Nowhere, nowhere.Host, nowhere.Phase = true, "", "pending"
		nowhere.Why = `no member that is up has the role "worker"`
	}
	if singletons > 2 {
		leased, misfit := &s.Singletons[1], &s.Singletons[2]
		leased.Lease, leased.LeaseHeld, leased.Here, leased.Phase, leased.Generation = "region-1 by node-1 in PostgreSQL", true, true, "host", "3.1"
		leased.Unacknowledged, leased.Dropped = 12, 34567
		misfit.Phase, misfit.Mismatch = "pending", `role is "worker" here and "" there`
		misfit.Why = "it is another singleton than that of the same name on 10.0.0.1:7355, and takes no part: " + misfit.Mismatch
	}
	return s
}

// detailsFor returns details for a crowd: a link to each other member, and journals, projections
// and placed actors with and without problems.
func detailsFor(s still) statuspage.Details {
	now := time.Now()
	ago := func(d time.Duration) *time.Time { return new(now.Add(-d)) }
	d := statuspage.Details{Time: now}
	p := &placementstatus.Overview{
		Coordinator: s.Members[0].Name, States: map[string]int{"running": 7, "unplaced": 1, "pending": 1}, Moves: map[string]uint64{"node lost": 3, "drain": 1}, StartFailures: 2,
	}
	for i, m := range s.Members {
		p.Nodes = append(p.Nodes, placementstatus.Node{Name: m.Name, Ready: true, Alive: i%5 != 2, Draining: i%5 == 2, Actors: i % 3})
		if m.ID == s.Self.ID {
			continue
		}
		l := statuspage.Link{
			Peer: m.Address, Name: m.Name, State: "connected", Since: ago(3 * time.Hour), Queued: i % 4, InDoubt: i % 3, Bytes: 700 * (i % 4),
			SentMessages: 1234567, SentBytes: 123456789, ReceivedMessages: 7654321, ReceivedBytes: 987654321,
		}
		switch {
		case !m.Reachable:
			l.State, l.Since, l.Queued, l.Bytes, l.Full, l.Dropped = "failing", ago(75*time.Second), 100_000, 64<<20, true, 4711
			l.LastError, l.LastErrorAt = "dial tcp "+m.Address+": connect: connection refused", ago(time.Second)
		case i == 1:
			l.LastError, l.LastErrorAt = "read tcp 10.0.0.7:51234->"+m.Address+": connection reset by peer", ago(time.Hour)
		case m.Status == "joining":
			l.State, l.Since, l.LastError, l.LastErrorAt = "refused", ago(3*time.Second), "remote: refused by "+m.Address+": wrong protocol version", ago(time.Second)
		}
		d.Links = append(d.Links, l)
	}
	d.Links = append(d.Links, statuspage.Link{Peer: "192.0.2.1:51234", State: "receiving", ReceivedMessages: 12})
	calls := func(n uint64) storestatus.Calls { return storestatus.Calls{Count: n, Mean: 310e-6, Most: 2.1e-3} }
	failing := calls(1017)
	failing.InARow, failing.Since, failing.Failure = 17, ago(20*time.Second), "postgres: append: connection refused (host=db-1.warehouse.eu-central-1.rds.amazonaws.com port=5432)"
	d.Journals = []storestatus.Journal{
		{Name: "memory", Appends: calls(1_234_567), Reads: calls(45), Claims: calls(45), Events: 2_345_678, Errors: map[string]uint64{"fenced": 3}, LastError: "persistence: fenced by a newer writer", LastErrorAt: ago(time.Hour)},
		{Name: "postgres", Appends: failing, Reads: calls(12), Claims: calls(12), Events: 2000, Errors: map[string]uint64{"unavailable": 17, "unknown outcome": 1}},
	}
	d.Projections = []storestatus.Projection{
		{Name: "orders-by-customer", Events: 1_234_567},
		{Name: "stock-of-warehouse", Lag: 754, Events: 3456, Failures: 12, Stalled: 1, Held: 2, Failure: "handle event 3457 of \"stock-7\": relation \"stock\" does not exist"},
	}
	p.Actors = []placementstatus.Actor{
		{Label: "disk-of-rack-17", Type: "storage-agent", State: "unplaced", Since: ago(4 * time.Minute), Failures: 3, Next: ago(-time.Minute), Trouble: true, Why: "no eligible nodes for \"disk-of-rack-17\" among 9: removed by Roles 9"},
		{Label: "index-0", Type: "indexer", State: "pending", Node: s.Members[1].Name, Since: ago(15 * time.Second), Trouble: true, Why: "spawning on " + s.Members[1].Name + " since 2026-11-26T09:00:00Z, which is unreachable"},
	}
	for i := range 7 {
		p.Actors = append(p.Actors, placementstatus.Actor{Label: fmt.Sprintf("worker-%d", i), Type: "worker", State: "running", Running: true, Node: s.Members[i%len(s.Members)].Name, Since: ago(time.Hour), Singleton: i == 6})
	}
	d.Placement = p
	for _, name := range []string{"shopping-cart-of-a-customer", "session"} {
		one := shardstatus.Type{Name: name, Role: "shop", Shards: 256, Hosts: true, Homeless: 12, Here: 28, Leaving: 2, Awake: 123_456, Held: 987, Failures: 5, Dropped: map[string]uint64{"the buffer of the shard is full": 3, "other": 0}, Lease: "another has it"}
		for _, m := range s.Members[:min(9, len(s.Members))] {
			one.Homes = append(one.Homes, shardstatus.Home{ID: m.ID, Name: m.Name, Reachable: m.Reachable, Shards: 28})
		}
		d.EntityTypes = append(d.EntityTypes, one)
	}
	d.Homeless = []shardstatus.Homeless{{Type: "session", Why: "spawning on " + s.Members[1].Name + " since 2026-11-26T09:00:00Z, which is unreachable", Shards: []int{4, 5}}}
	return d
}

func serve(t *testing.T, s still) string {
	idle := statuspage.Actors{Time: time.Now(), Handlers: []statuspage.Handler{}, Asks: []statuspage.Ask{}, Circles: [][]string{}}
	server := httptest.NewServer(statuspage.New(stillSource{still: s, actors: idle, details: detailsFor(s)}, statuspage.Options{}))
	t.Cleanup(server.Close)
	t.Cleanup(server.CloseClientConnections)
	return server.URL + "/"
}

func TestThePageHoldsManyMembersWithLongNamesAtAnyWidth(t *testing.T) {
	effort.Unraced(t)
	b := browser.Start(t)
	for _, members := range []int{9, 40, 100} {
		url := serve(t, crowd(members, 12))
		for _, width := range []int{1400, 420} {
			b.Open(url, width, 900, drawn)
			b.Await(fmt.Sprintf(`document.querySelectorAll("#members tbody tr").length === %d`, members))
			require.Equal(t, members, b.Count("#drawing .member"))
			require.Equal(t, members/2, b.Count("#drawing .broken"))
			require.Equal(t, true, b.Eval(`document.documentElement.scrollWidth <= innerWidth`), "nothing is wider than the window")
			require.Equal(t, true, b.Eval(`(() => {
				const frame = document.getElementById("drawing").getBoundingClientRect();
				return [...document.querySelectorAll("#drawing text, #drawing rect")].every((each) => {
					const box = each.getBoundingClientRect();
					return box.left >= frame.left - 1 && box.right <= frame.right + 1 && box.top >= frame.top - 1 && box.bottom <= frame.bottom + 1;
				});
			})()`), "nothing is drawn outside the frame")
			require.Equal(t, true, b.Eval(`(() => {
				const cells = document.querySelector("#singletons [data-singleton=coordinator-of-region-1]").textContent;
				return cells.includes("lease held") && cells.includes("12 unacknowledged") && cells.includes("34567 dropped");
			})()`))
			require.Equal(t, 4, b.Count("#singletons .name .note.bad"), "one has dropped messages, one is another singleton than elsewhere, one fails, one can run nowhere")
			require.Equal(t, true, b.Eval(`(() => {
				const cells = document.querySelector("#singletons [data-singleton=coordinator-of-region-3]").textContent;
				return cells.includes("1233 failed") && cells.includes("17 in a row") && cells.includes("does not exist");
			})()`))
			require.Equal(t, 1, b.Count("#drawing .pill.failing[data-singleton=coordinator-of-region-3]"))
			require.Equal(t, 1, b.Count("#drawing .pill.failing[data-singleton=coordinator-of-region-4]"))
			require.Equal(t, 1, b.Count("#drawing .tie.failing"), "nothing ties what can run nowhere")
			b.Dark(members == 40)
			b.Shoot(fmt.Sprintf("%d-members-%d", members, width))
			b.Eval(`document.getElementById("singletons").scrollIntoView()`)
			b.Shoot(fmt.Sprintf("%d-members-%d-singletons", members, width))
			b.Await(fmt.Sprintf(`document.querySelectorAll("#links [data-peer]").length === %d`, members))
			require.Equal(t, true, b.Eval(`document.documentElement.scrollWidth <= innerWidth`), "nothing is wider than the window")
			require.Equal(t, 2, b.Count("#links .why .note.bad"), "one cannot be reached, one refuses")
			require.Equal(t, true, b.Eval(`(() => {
				const [, lost, , joining] = document.querySelectorAll("#links tbody tr");
				return lost.textContent.includes("connection refused") && joining.textContent.includes("wrong protocol version");
			})()`), "those in trouble come first, and the longest queue among them")
			require.Equal(t, true, b.Eval(`document.querySelector("#journals [data-journal=postgres] + tr").textContent.includes("17 in a row: postgres: append")`))
			require.Equal(t, true, b.Eval(`document.querySelector("#projections [data-projection=stock-of-warehouse]").textContent.includes("2 ids held back")`))
			require.Equal(t, true, b.Eval(`(() => {
				const session = document.querySelector("#entities [data-entities=session]");
				return session.textContent.includes("244 of 256") && session.nextSibling.textContent.includes("2 run nowhere: spawning on");
			})()`))
			require.Equal(t, true, b.Eval(`document.querySelector("#placed [data-label=disk-of-rack-17] + tr").textContent.includes("removed by Roles 9")`))
			require.Equal(t, true, b.Eval(`document.getElementById("placement-count").textContent.startsWith("7 of 9 actors run")`))
			b.Await(`document.getElementById("stuck-why").textContent.length > 0`)
			require.Equal(t, true, b.Eval(`document.querySelector("#waiting ul").hidden`), "the line above says the same")
			for _, part := range []string{"placement-part", "links-part", "journals-part"} {
				if members == 100 {
					break
				}
				b.Eval(`document.getElementById("` + part + `").scrollIntoView()`)
				b.Shoot(fmt.Sprintf("%d-members-%d-%s", members, width, part))
			}
		}
	}
}

func TestThePageOfASmallClusterNeedsNoScrollingSideways(t *testing.T) {
	b := browser.Start(t)
	s := crowd(9, 12)
	for i := range s.Members {
		s.Members[i].Name = fmt.Sprintf("node-%d", i+1)
	}
	s.Self = s.Members[3]
	for i := range s.Singletons {
		s.Singletons[i].Name = fmt.Sprintf("region-%d", i)
	}
	s.Singletons[5].Phase = "handing over"
	url := serve(t, s)
	for _, width := range []int{1300, 1100} {
		b.Open(url, width, 900, drawn)
		b.Await(`document.querySelectorAll("#links [data-peer]").length === 9`)
		require.Equal(t, true, b.Eval(`(() => {
			const around = document.getElementById("singletons").parentElement;
			return around.scrollWidth <= around.clientWidth;
		})()`), "the table of singletons is as wide as its column at %d", width)
		require.Equal(t, true, b.Eval(`[...document.querySelectorAll("#members .name .whole, #singletons .whole")].every((each) => each.getClientRects().length === 1)`), "no name is broken at its hyphen")
		require.Equal(t, true, b.Eval(`(() => {
			const bottoms = [0, 0];
			for (const each of document.querySelectorAll("main > section:not([hidden])")) {
				const box = each.getBoundingClientRect();
				const column = box.left < innerWidth / 2 - 100 ? 0 : 1;
				bottoms[column] = Math.max(bottoms[column], box.bottom);
			}
			return bottoms[1] === 0 || Math.min(...bottoms) > Math.max(...bottoms) * 0.7;
		})()`), "both columns are about as long, if there are two")
		b.Shoot(fmt.Sprintf("small-%d", width))
	}
}

func TestThePageListsDeadLettersAndFiltersThem(t *testing.T) {
	b := browser.Start(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	n := onLoopback(ctx, t, "anna")[0]
	server := httptest.NewServer(n.Handler())
	t.Cleanup(server.Close)
	t.Cleanup(server.CloseClientConnections)
	b.Open(server.URL+"/", 1400, 900, drawn)
	b.Await(`document.getElementById("letters-count").textContent === "0"`)
	require.Equal(t, true, b.Eval(`document.getElementById("letters-list").hidden && !document.getElementById("no-letters").hidden`))

	for i := range 20 {
		actor.Resolve[string](n.System, fmt.Sprintf("understudy://shop@%s/user/till-%d", n.Address(), i)).Tell("order")
	}
	for range 1500 {
		actor.Resolve[int](n.System, "<b>nowhere</b>").Tell(1)
	}
	b.Await(`document.getElementById("letters-count").textContent === Number(1520).toLocaleString()`)
	require.Equal(t, 21, b.Count("#letters tbody tr"))
	require.Equal(t, 1, b.Count(`#letters tbody tr:first-child[data-reason="the ActorRef addresses no actor"]`), "the newest is first")
	require.Zero(t, b.Count("#letters b"), "a recipient is text")
	require.Equal(t, true, b.Eval(`document.getElementById("letters-reasons").textContent.includes("no such actor20")`))
	b.Shoot("dead-letters")

	filter := func(text string) {
		b.Eval(fmt.Sprintf(`(() => { const input = document.getElementById("letters-filter"); input.value = %q; input.dispatchEvent(new Event("input")); })()`, text))
	}
	filter("TILL-1 such")
	require.Equal(t, 11, b.Count("#letters tbody tr"), "till-1, and till-10 to till-19")
	require.Equal(t, "11 of the last 21", b.Eval(`document.getElementById("letters-shown").textContent`))
	actor.Resolve[string](n.System, fmt.Sprintf("understudy://shop@%s/user/till-100", n.Address())).Tell("order")
	b.Await(`document.querySelectorAll("#letters tbody tr").length === 12`) // the filter stays
	filter("nothing like it")
	require.Zero(t, b.Count("#letters tbody tr"))
	filter("")
	require.Equal(t, 22, b.Count("#letters tbody tr"))
}

// asking is a message for actors that ask one another inside their handlers.
type asking struct {
	ask     actor.ActorRef[asking]
	replyTo actor.ActorRef[int]
	sleep   <-chan struct{}
}

func asker() actor.Behavior[asking] {
	return behaviors.Receive(func(ctx *actor.Context[asking], msg asking) actor.Behavior[asking] {
		if msg.sleep != nil {
			<-msg.sleep
			return nil
		}
		_, _ = actor.Ask(ctx, msg.ask, func(replyTo actor.ActorRef[int]) asking { return asking{replyTo: replyTo} })
		return nil
	})
}

func TestThePageNamesActorsThatWaitForEachOther(t *testing.T) {
	effort.Unraced(t)
	b := browser.Start(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	nodes := onLoopback(ctx, t, "anna", "bert", "cleo")
	s := nodes[0].System
	wake := make(chan struct{})
	defer close(wake)
	slow := actor.Spawn(s, asker(), "slow", actor.WithKind("till"))
	slow.Tell(asking{sleep: wake})
	for range 12 {
		slow.Tell(asking{sleep: wake})
	}
	quick := actor.Spawn(s, behaviors.Ignore[string], "quick")
	for range 1000 {
		quick.Tell("order")
	}
	server := httptest.NewServer(nodes[0].Handler())
	t.Cleanup(server.Close)
	t.Cleanup(server.CloseClientConnections)
	b.Open(server.URL+"/", 1400, 900, drawn)
	b.Await(`document.querySelector("#handlers [data-actor='/user/slow']")`)
	b.Await(`document.getElementById("stuck-why").textContent.startsWith("A handler of /user/slow has been under way")`)
	b.Await(`document.querySelector("#kinds [data-kind=till]").cells[3].textContent === "12"`)
	require.Equal(t, true, b.Eval(`document.querySelector("#kinds tbody tr").dataset.kind === "till"`), "most waiting messages come first")
	b.Await(`document.querySelector("#kinds [data-kind=string]").cells[2].textContent === "0"`)
	b.Shoot("slow-handler")

	names := []string{"stock", "till", "ledger"}
	var refs []actor.ActorRef[asking]
	for _, name := range names {
		refs = append(refs, actor.Spawn(s, asker(), name))
	}
	for i, ref := range refs {
		ref.Tell(asking{ask: refs[(i+1)%len(refs)]})
	}
	b.Await(`document.getElementById("stuck-why").textContent.startsWith("Actors wait for each other: ")`)
	require.Equal(t, true, b.Eval(`["/user/stock asks /user/till", "/user/till asks /user/ledger", "/user/ledger asks /user/stock"].every((text) =>
		document.getElementById("circles").textContent.includes(text))`))
	b.Await(`document.querySelector("#handlers [data-actor='/user/stock']").cells[3].textContent === "/user/till"`)
	b.Eval(`scrollTo(0, 0)`)
	b.Shoot("circle")
	b.Eval(`document.getElementById("actors").scrollIntoView()`)
	b.Shoot("circle-actors")
	b.Dark(true)
	b.Open(server.URL+"/", 420, 900, drawn)
	b.Await(`document.getElementById("actors").dataset.time && !document.getElementById("stuck").hidden`)
	require.Equal(t, true, b.Eval(`document.documentElement.scrollWidth <= innerWidth`), "nothing is wider than the window")
	b.Shoot("circle-narrow-dark")
	b.Eval(`document.getElementById("actors").scrollIntoView()`)
	b.Shoot("circle-narrow-dark-actors")
}

func TestThePageShowsAThousandKinds(t *testing.T) {
	effort.Unraced(t)
	b := browser.Start(t)
	shown := statuspage.Actors{Time: time.Now(), Handlers: []statuspage.Handler{}, Asks: []statuspage.Ask{}, Circles: [][]string{}}
	for n := range 1200 {
		shown.Kinds = append(shown.Kinds, statuspage.ActorKind{
			Name: fmt.Sprintf("warehouse.CommandOfDepartment%04d", n), Actors: 100, Messages: 1_000_000, Waiting: n, Stashed: int64(n % 3),
			Failures: uint64(n % 7), Restarts: uint64(n % 5), Timed: uint64(n % 2), Mean: 42e-6, Most: 1e-3,
		})
	}
	server := httptest.NewServer(statuspage.New(stillSource{still: crowd(9, 12), actors: shown}, statuspage.Options{}))
	t.Cleanup(server.Close)
	t.Cleanup(server.CloseClientConnections)
	for _, width := range []int{1400, 420} {
		b.Dark(width == 420)
		b.Open(server.URL+"/", width, 900, drawn)
		b.Await(`document.querySelectorAll("#kinds tbody tr").length === 1000`)
		require.Equal(t, "warehouse.CommandOfDepartment1199", b.Eval(`document.querySelector("#kinds tbody tr").dataset.kind`))
		b.Await(`document.getElementById("links-part").dataset.time`)
		require.Equal(t, true, b.Eval(`document.getElementById("kinds-left-out").textContent.startsWith("200 more are left out")`))
		require.Equal(t, true, b.Eval(`document.documentElement.scrollWidth <= innerWidth`), "nothing is wider than the window")
		b.Eval(`document.getElementById("actors").scrollIntoView()`)
		b.Shoot(fmt.Sprintf("1000-kinds-%d", width))
	}
}

func TestThePageShowsTheHistoryNewestFirstAtAnyWidth(t *testing.T) {
	effort.Unraced(t)
	b := browser.Start(t)
	now := time.Now()
	past := statuspage.History{Time: now, Node: "warehouse-worker-003", Events: []history.Event{
		{Kind: "singleton moved", Subject: "coordinator-of-region-0, coordinator-of-region-1, coordinator-of-region-2, coordinator-of-region-3 and others", Reason: "from warehouse-worker-001.eu-central-1.compute.internal to warehouse-worker-002.eu-central-1.compute.internal: warehouse-worker-001.eu-central-1.compute.internal is leaving or down", Count: 2000, First: now.Add(-time.Second), Last: now},
		{Kind: "downing", Subject: "warehouse-worker-001.eu-central-1.compute.internal", Reason: "this side is the majority", Count: 1, First: now.Add(-2 * time.Second), Last: now.Add(-2 * time.Second)},
	}}
	for i := range history.Size - 2 {
		at := now.Add(-time.Duration(i+1) * time.Hour)
		past.Events = append(past.Events, history.Event{Kind: "member up", Subject: fmt.Sprintf("warehouse-worker-%03d", i), Count: 1, First: at, Last: at})
	}
	idle := statuspage.Actors{Time: now, Handlers: []statuspage.Handler{}, Asks: []statuspage.Ask{}, Circles: [][]string{}}
	server := httptest.NewServer(statuspage.New(stillSource{still: crowd(9, 2), actors: idle, history: past}, statuspage.Options{}))
	t.Cleanup(server.Close)
	t.Cleanup(server.CloseClientConnections)
	for _, width := range []int{1400, 420} {
		for _, dark := range []bool{false, true} {
			b.Dark(dark)
			b.Open(server.URL+"/", width, 900, drawn)
			b.Await(fmt.Sprintf(`document.querySelectorAll("#history [data-kind]").length === %d`, history.Size))
			require.Equal(t, "singleton moved", b.Eval(`document.querySelector("#history tbody tr").dataset.kind`))
			require.Equal(t, true, b.Eval(`document.querySelector("#history tbody tr").cells[1].textContent.includes(Number(2000).toLocaleString() + " times")`))
			require.Equal(t, "this side is the majority", b.Eval(`document.querySelector("#history [data-kind=downing] + tr").textContent`))
			require.Equal(t, true, b.Eval(`document.documentElement.scrollWidth <= innerWidth`), "nothing is wider than the window")
			b.Eval(`document.getElementById("history-title").scrollIntoView()`)
			b.Shoot(fmt.Sprintf("history-%d-dark-%t", width, dark))
		}
	}
}

func TestANameThatIsMarkupStaysText(t *testing.T) {
	b := browser.Start(t)
	const evil = `<script>document.title="owned"</script><img src=x onerror="document.title='owned'">`
	s := crowd(4, 1)
	s.Cluster, s.Self.Name = evil, evil
	s.Members[0].Name, s.Members[0].Roles, s.Members[0].Meta = evil, []string{evil}, map[string]string{evil: evil}
	s.Members[0].Status, s.Members[0].Address = evil, evil
	s.Singletons[0].Name, s.Singletons[0].Why, s.Singletons[0].Phase = evil, evil, evil
	s.Singletons[0].CrashLoop, s.Singletons[0].AtHost = true, &statuspage.AtHost{Member: evil, LastError: "not " + evil, Why: evil}
	s.Singletons[0].Lease, s.Singletons[0].Obstacle, s.Singletons[0].Mismatch, s.Singletons[0].Placement = evil, evil, "not "+evil, evil
	s.Waiting, s.Settings.Downing = []string{evil}, evil
	for i := range s.Members {
		s.Members[i].ID = strings.ReplaceAll(s.Members[i].ID, s.Members[0].ID, evil)
	}
	s.Leader, s.Singletons[0].Host = evil, evil
	d := detailsFor(s)
	d.Links[0].LastError, d.Links[0].Name, d.Links[0].State, d.Links[0].Peer = evil, evil, evil, evil
	d.Journals[0].Name, d.Journals[0].LastError, d.Journals[0].Errors = evil, evil, map[string]uint64{evil: 1}
	d.Projections[0].Name, d.Projections[0].Failure = evil, evil
	d.Placement.Coordinator, d.Placement.Nodes[0].Name, d.Placement.Moves = evil, evil, map[string]uint64{evil: 1}
	d.Placement.Actors[0] = placementstatus.Actor{Label: evil, Type: evil, State: evil, Node: evil, Why: evil, Trouble: true}
	past := statuspage.History{Events: []history.Event{{Kind: evil, Subject: evil, Reason: evil, Node: evil, Count: 2}}}
	server := httptest.NewServer(statuspage.New(stillSource{still: s, details: d, history: past}, statuspage.Options{}))
	t.Cleanup(server.Close)
	t.Cleanup(server.CloseClientConnections)
	b.Open(server.URL+"/", 1000, 900, drawn)
	b.Await(`document.querySelector("#members tbody tr .name").textContent.includes("<script>")`)
	b.Await(`document.querySelector("#placed tbody tr .name").textContent.includes("<script>")`)
	b.Await(`document.querySelector("#history tbody").textContent.split("<script>").length === 4`)
	require.Equal(t, evil, b.Eval(`document.getElementById("cluster").textContent`))
	require.Equal(t, 1, b.Count("script"), "the page's own")
	require.Zero(t, b.Count("img"))
	require.NotEqual(t, "owned", b.Eval(`document.title`))
}

func TestThePageFoundsWithoutWhatIsLostOnlyWhereActionsAreAllowed(t *testing.T) {
	b := browser.Start(t)
	s := crowd(4, 1)
	s.Absent = []string{"10.0.9.1:7355", "10.0.9.2:7355", "<b>"}
	b.Open(serve(t, s), 1000, 900, drawn)
	require.Zero(t, b.Count("#founding"))

	asked := make(chan []string, 2)
	server := httptest.NewServer(statuspage.New(stillSource{still: s}, statuspage.Options{Actions: &statuspage.Actions{
		Authorize: func(*http.Request) error { return nil },
		FoundWithout: func(addresses []string) error {
			asked <- addresses
			if len(addresses) > 1 {
				return errors.New("10.0.9.2:7355 answers")
			}
			return nil
		},
	}}))
	t.Cleanup(server.Close)
	t.Cleanup(server.CloseClientConnections)
	b.Open(server.URL+"/", 420, 700, drawn)
	require.Equal(t, 3, b.Count("#founding input"))
	b.Shoot("founding")
	require.Equal(t, true, b.Eval(`document.documentElement.scrollWidth <= innerWidth`), "nothing is wider than the window")
	require.Equal(t, 1, b.Count("#founding button:disabled"), "nothing is ticked")
	b.Eval(`document.querySelectorAll("#founding input")[0].click()`)
	b.Eval(`window.confirm = (text) => { window.promised = text; return false }`)
	b.Eval(`document.querySelector("#founding button").click()`)
	require.Contains(t, b.Eval(`window.promised`), "without 10.0.9.1:7355.")
	require.Empty(t, asked, "it was not confirmed")
	b.Eval(`window.confirm = () => true`)
	b.Eval(`document.querySelector("#founding button").click()`)
	b.Await(`document.querySelector("#founding output").textContent === "The node tells the others."`)
	require.Equal(t, []string{"10.0.9.1:7355"}, <-asked)
	b.Eval(`document.querySelectorAll("#founding input")[1].click()`)
	b.Eval(`document.querySelector("#founding button").click()`)
	b.Await(`document.querySelector("#founding output").textContent.includes("10.0.9.2:7355 answers")`)
	require.Equal(t, []string{"10.0.9.1:7355", "10.0.9.2:7355"}, <-asked)
}

func TestThePageListsWhatWasGivenUpAndActsOnItOnlyWhereActionsAreAllowed(t *testing.T) {
	effort.Unraced(t)
	b := browser.Start(t)
	source := stillSource{still: crowd(4, 1), givenUp: statuspage.GivenUp{Messages: []statuspage.GivenUpMessage{
		{Number: 7, Singleton: "orders", Type: "shop.Order", Reason: "<b>no price</b>", Time: time.Now()},
		{Number: 8, Singleton: "orders", Type: "shop.Order", Reason: "no customer", Time: time.Now()},
	}}}
	open := func(actions *statuspage.Actions) {
		server := httptest.NewServer(statuspage.New(source, statuspage.Options{Actions: actions}))
		t.Cleanup(server.Close)
		t.Cleanup(server.CloseClientConnections)
		b.Open(server.URL+"/", 1000, 900, drawn)
		b.Await(`document.querySelectorAll("#given-up tbody tr").length === 2`)
	}
	open(nil)
	require.Zero(t, b.Count("#given-up button"))
	require.Zero(t, b.Count("#given-up b"), "a reason is text")

	asked := make(chan string, 1)
	note := func(what string) func(uint64) error {
		return func(number uint64) error {
			asked <- fmt.Sprint(what, " ", number)
			return nil
		}
	}
	open(&statuspage.Actions{
		Authorize: func(*http.Request) error { return nil },
		Resend:    note("resend"), Discard: note("discard"),
	})
	b.Await(`document.querySelectorAll("#given-up button").length === 4`)
	b.Shoot("given-up")
	b.Eval(`window.confirm = () => false`)
	b.Eval(`document.querySelector("#given-up button").click()`)
	require.Empty(t, asked, "it was not confirmed")
	b.Eval(`window.confirm = () => true`)
	b.Eval(`document.querySelectorAll("#given-up button")[0].click()`)
	require.Equal(t, "resend 7", <-asked)
	b.Eval(`document.querySelectorAll("#given-up tbody tr:last-child button")[1].click()`)
	require.Equal(t, "discard 8", <-asked)
}
