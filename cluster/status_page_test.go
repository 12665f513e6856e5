package cluster

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/internal/browser"
	"github.com/understudy-go/understudy/internal/effort"
	"github.com/understudy-go/understudy/internal/history"
	"github.com/understudy-go/understudy/internal/status"
	"github.com/understudy-go/understudy/internal/statuspage"
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
	details object
	history statuspage.History
	givenUp statuspage.GivenUp
	letters statuspage.DeadLetters
}

func (stillSource) Refresh(context.Context) {}

func (s stillSource) DeadLetters() statuspage.DeadLetters { return s.letters }

func (s stillSource) GivenUp() statuspage.GivenUp { return s.givenUp }

func (s stillSource) Actors() statuspage.Actors { return s.actors }

func (s stillSource) History() statuspage.History { return s.history }

func (s stillSource) Details() (details map[string]any, problems []status.Problem) {
	return s.details, []status.Problem{}
}

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

// An object is one of JSON.
type object = map[string]any

// detailsFor returns details for a crowd: a link to each other member, and journals, projections
// and placed actors with and without problems.
func detailsFor(s still) object {
	now := time.Now()
	ago := func(d time.Duration) time.Time { return now.Add(-d) }
	links, nodes := []object{}, []object{}
	for i, m := range s.Members {
		nodes = append(nodes, object{"name": m.Name, "ready": true, "alive": i%5 != 2, "draining": i%5 == 2, "actors": i % 3})
		if m.ID == s.Self.ID {
			continue
		}
		l := object{
			"peer": m.Address, "name": m.Name, "state": "connected", "since": ago(3 * time.Hour), "queued": i % 4, "inDoubt": i % 3, "bytes": 700 * (i % 4), "dropped": 0,
			"sentMessages": 1234567, "sentBytes": 123456789, "receivedMessages": 7654321, "receivedBytes": 987654321, "lastError": "",
		}
		switch {
		case !m.Reachable:
			maps.Copy(l, object{"state": "failing", "since": ago(75 * time.Second), "queued": 100_000, "bytes": 64 << 20, "full": true, "dropped": 4711})
			maps.Copy(l, object{"lastError": "dial tcp " + m.Address + ": connect: connection refused", "lastErrorAt": ago(time.Second)})
		case i == 1:
			maps.Copy(l, object{"lastError": "read tcp 10.0.0.7:51234->" + m.Address + ": connection reset by peer", "lastErrorAt": ago(time.Hour)})
		case m.Status == "joining":
			maps.Copy(l, object{"state": "refused", "since": ago(3 * time.Second), "lastError": "remote: refused by " + m.Address + ": wrong protocol version", "lastErrorAt": ago(time.Second)})
		}
		links = append(links, l)
	}
	slices.SortStableFunc(links, func(a, b object) int { return strings.Compare(rankOf(a), rankOf(b)) })
	links = append(links, object{"peer": "192.0.2.1:51234", "name": "", "state": "receiving", "since": nil, "queued": 0, "bytes": 0, "inDoubt": 0, "dropped": 0, "sentMessages": 0, "sentBytes": 0, "receivedMessages": 12, "receivedBytes": 0, "lastError": ""})
	return object{
		"time": now, "links": links, "linksLeftOut": 0, "journals": journalsFor(ago), "projections": []object{
			{"name": "orders-by-customer", "lagSeconds": 0, "events": 1_234_567, "skipped": 0, "failures": 0, "stalled": 0, "held": 0, "failure": ""},
			{"name": "stock-of-warehouse", "lagSeconds": 754, "events": 3456, "skipped": 0, "failures": 12, "stalled": 1, "held": 2, "failure": "handle event 3457 of \"stock-7\": relation \"stock\" does not exist"},
		},
		"placement": placementFor(s, nodes, ago), "placementFailure": "",
		"workflows": workflowsFor(ago), "entityTypes": entityTypesFor(s), "homelessFailure": "",
		"homeless": []object{{"type": "session", "why": "spawning on " + s.Members[1].Name + " since 2026-11-26T09:00:00Z, which is unreachable", "shards": []int{4, 5}}},
	}
}

// rankOf orders links as a node does: those in trouble come first.
func rankOf(link object) string {
	if link["state"] == "connected" {
		return "1"
	}
	return "0"
}

func journalsFor(ago func(time.Duration) time.Time) []object {
	calls := func(n int) object { return object{"count": n, "meanSeconds": 310e-6, "p99Seconds": 2.1e-3} }
	failing := calls(1017)
	maps.Copy(failing, object{"failedInARow": 17, "failingSince": ago(20 * time.Second), "failure": "postgres: append: connection refused (host=db-1.warehouse.eu-central-1.rds.amazonaws.com port=5432)"})
	return []object{
		{"name": "memory", "appends": calls(1_234_567), "reads": calls(45), "claims": calls(45), "events": 2_345_678, "errors": object{"fenced": 3}, "lastError": "persistence: fenced by a newer writer", "lastErrorAt": ago(time.Hour)},
		{"name": "postgres", "appends": failing, "reads": calls(12), "claims": calls(12), "events": 2000, "errors": object{"unavailable": 17, "unknown outcome": 1}, "lastError": ""},
	}
}

func placementFor(s still, nodes []object, ago func(time.Duration) time.Time) object {
	placed := []object{
		{"label": "disk-of-rack-17", "type": "storage-agent", "state": "unplaced", "node": "", "since": ago(4 * time.Minute), "failures": 3, "nextAttempt": ago(-time.Minute), "trouble": true, "why": "no eligible nodes for \"disk-of-rack-17\" among 9: removed by Roles 9"},
		{"label": "index-0", "type": "indexer", "state": "pending", "node": s.Members[1].Name, "since": ago(15 * time.Second), "failures": 0, "trouble": true, "why": "spawning on " + s.Members[1].Name + " since 2026-11-26T09:00:00Z, which is unreachable"},
	}
	for i := range 7 {
		placed = append(placed, object{"label": fmt.Sprintf("worker-%d", i), "type": "worker", "state": "running", "running": true, "node": s.Members[i%len(s.Members)].Name, "since": ago(time.Hour), "failures": 0, "singleton": i == 6, "why": ""})
	}
	return object{
		"coordinator": s.Members[0].Name, "states": object{"running": 7, "unplaced": 1, "pending": 1}, "moves": object{"node lost": 3, "drain": 1}, "startFailures": 2,
		"nodes": nodes, "actors": placed, "actorsLeftOut": 0,
	}
}

func workflowsFor(ago func(time.Duration) time.Time) []object {
	run := func(id, state string, more object) object {
		all := object{"id": id, "tag": "eu", "state": state, "began": ago(time.Hour), "ended": nil, "outcomes": 3, "steps": []object{}, "signals": []string{}, "unasked": []string{}, "error": "", "next": nil}
		maps.Copy(all, more)
		return all
	}
	steps := []object{{"name": "charge-the-card-of-the-customer", "doing": "retrying", "attempt": 4, "error": "dial tcp 10.0.9.1:443: connection refused", "next": ago(-time.Minute), "begun": nil}}
	return []object{{"name": "fulfilment-of-orders", "counts": object{"running": 1234, "done": 1200, "failed": 3}, "leftOut": 17, "runs": []object{
		run("4711", "held", object{"error": "workflow: the function has panicked: <b>nil map</b>", "next": ago(-time.Minute), "unasked": []string{"reserve"}}),
		run("4710", "waiting", object{"steps": steps}),
	}}}
}

func entityTypesFor(s still) (all []object) {
	for _, name := range []string{"shopping-cart-of-a-customer", "session"} {
		homes := []object{}
		for _, m := range s.Members[:min(9, len(s.Members))] {
			homes = append(homes, object{"id": m.ID, "name": m.Name, "reachable": m.Reachable, "shards": 28})
		}
		all = append(all, object{
			"name": name, "role": "shop", "shards": 256, "hosts": true, "homes": homes, "homeless": 12, "here": 28, "leaving": 2, "awake": 123_456, "held": 987, "failures": 5,
			"dropped": object{"the buffer of the shard is full": 3, "other": 0}, "refused": "", "lease": "another has it",
		})
	}
	return all
}

func served(t *testing.T, source statuspage.Source, o statuspage.Options) (page string) {
	t.Helper()
	server := httptest.NewServer(statuspage.New(source, o))
	t.Cleanup(server.Close)
	t.Cleanup(server.CloseClientConnections)
	return server.URL + "/"
}

func serve(t *testing.T, s still) string {
	idle := statuspage.Actors{Time: time.Now(), Handlers: []statuspage.Handler{}, Asks: []statuspage.Ask{}, Circles: [][]string{}}
	return served(t, stillSource{still: s, actors: idle, details: detailsFor(s)}, statuspage.Options{})
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
			require.Equal(t, true, b.Eval(`document.querySelector("#workflows [data-run='fulfilment-of-orders/4711']").textContent.includes("held")`))
			require.Equal(t, true, b.Eval(`(() => {
				const rows = document.querySelector("#workflows tbody").textContent;
				return rows.includes("<b>nil map</b>") && rows.includes("does not ask for: reserve") && rows.includes("retrying, attempt 4") && rows.includes("connection refused") && rows.includes("17 in memory are left out");
			})()`))
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
	page := served(t, stillSource{still: crowd(9, 12), actors: shown}, statuspage.Options{})
	for _, width := range []int{1400, 420} {
		b.Dark(width == 420)
		b.Open(page, width, 900, drawn)
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
	page := served(t, stillSource{still: crowd(9, 2), actors: idle, history: past}, statuspage.Options{})
	for _, width := range []int{1400, 420} {
		for _, dark := range []bool{false, true} {
			b.Dark(dark)
			b.Open(page, width, 900, drawn)
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
	first := func(in any, names ...string) {
		for _, name := range names {
			in.([]object)[0][name] = evil
		}
	}
	first(d["links"], "lastError", "name", "state", "peer")
	first(d["journals"], "name", "lastError")
	d["journals"].([]object)[0]["errors"] = object{evil: 1}
	first(d["projections"], "name", "failure")
	placed := d["placement"].(object)
	placed["coordinator"], placed["moves"] = evil, object{evil: 1}
	first(placed["nodes"], "name")
	first(placed["actors"], "label", "type", "state", "node", "why")
	first(d["entityTypes"], "name", "role", "refused", "lease")
	past := statuspage.History{Events: []history.Event{{Kind: evil, Subject: evil, Reason: evil, Node: evil, Count: 2}}}
	page := served(t, stillSource{still: s, details: d, history: past}, statuspage.Options{})
	b.Open(page, 1000, 900, drawn)
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
		page := served(t, source, statuspage.Options{Actions: actions})
		b.Open(page, 1000, 900, drawn)
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

func TestThePageLetsAProjectionTryAgainOnlyWhereActionsAreAllowed(t *testing.T) {
	effort.Unraced(t)
	b := browser.Start(t)
	s := crowd(4, 1)
	source := stillSource{still: s, details: detailsFor(s)}
	stock := source.details["projections"].([]object)[1]
	stock["stalled"], stock["held"] = 0, 2
	stock["heldIDs"] = []object{{"id": "<b>apples</b>", "from": 5, "last": 9, "failure": "too old"}, {"id": "pears", "from": 1, "last": 1, "failure": "too old"}}
	open := func(actions *statuspage.Actions) {
		page := served(t, source, statuspage.Options{Actions: actions})
		b.Open(page, 1000, 900, drawn)
		b.Await(`document.querySelectorAll("#projections tbody tr").length === 3`)
	}
	open(nil)
	require.Zero(t, b.Count("#projections button"))
	require.Equal(t, "<b>apples</b>, from event 5 to 9: too oldpears, from event 1 to 1: too old", b.Eval(`document.querySelector("#projections td.why").textContent`))

	asked := make(chan string, 1)
	open(&statuspage.Actions{
		Authorize: func(*http.Request) error { return nil },
		Retry: func(_ context.Context, name string) (statuspage.Retried, error) {
			asked <- name
			return statuspage.Retried{Projection: name, Done: true, Held: 1}, nil
		},
	})
	b.Await(`document.querySelectorAll("#projections button").length === 1`)
	b.Eval(`document.getElementById("projections-part").scrollIntoView()`)
	b.Shoot("projections-held")
	b.Eval(`document.querySelector("#projections button").click()`)
	require.Equal(t, "stock-of-warehouse", <-asked)
	b.Await(`document.getElementById("projections-result").textContent === "stock-of-warehouse still holds the events of 1 id back."`)
}

func TestThePageSendsDeadLettersAgainOnlyWhereActionsAreAllowed(t *testing.T) {
	effort.Unraced(t)
	b := browser.Start(t)
	letter := func(recipient string, numbers ...string) statuspage.DeadLetter {
		return statuspage.DeadLetter{Recipient: recipient, Type: "shop.Order", Reason: "terminated", Count: 3, First: time.Now(), Last: time.Now(), Numbers: append([]string{}, numbers...), Asked: true}
	}
	source := stillSource{still: crowd(4, 1), letters: statuspage.DeadLetters{ByReason: map[string]uint64{"terminated": 7}, Letters: []statuspage.DeadLetter{
		letter("/user/till", "d7", "d8", "d9"), letter("/user/<b>stock</b>", "d4"), letter("/user/old"),
	}}}
	source.letters.Letters[2].NotKept = "type shop.Order is not registered"
	open := func(actions *statuspage.Actions) {
		page := served(t, source, statuspage.Options{Actions: actions})
		b.Open(page, 1000, 900, drawn)
		b.Await(`document.querySelectorAll("#letters tbody tr").length === 3`)
	}
	open(nil)
	require.Zero(t, b.Count("#letters button"))
	require.Equal(t, "d7 to d9its ask has ended: a reply reaches nobody", b.Eval(`document.querySelector("#letters tbody td:last-child").textContent`))
	require.Equal(t, "not kept: type shop.Order is not registered", b.Eval(`document.querySelector("#letters tbody tr:last-child td:last-child").textContent`))

	asked := make(chan string, 1)
	open(&statuspage.Actions{
		Authorize: func(*http.Request) error { return nil },
		ResendLetter: func(number uint64) (statuspage.Resent, error) {
			asked <- fmt.Sprint("resend ", number)
			return statuspage.Resent{Number: "d7", To: "/user/till", Outcome: statuspage.DeadAgain, Reason: "terminated", Again: "d10"}, nil
		},
		DiscardLetter: func(number uint64) error {
			asked <- fmt.Sprint("discard ", number)
			return nil
		},
	})
	b.Await(`document.querySelectorAll("#letters button").length === 4`)
	b.Eval(`document.getElementById("letters").scrollIntoView()`)
	b.Shoot("dead-letters-kept")
	b.Eval(`window.confirm = () => false`)
	b.Eval(`document.querySelector("#letters button").click()`)
	require.Empty(t, asked, "it was not confirmed")
	b.Eval(`window.confirm = () => true`)
	b.Eval(`document.querySelectorAll("#letters tbody tr:nth-child(2) button")[1].click()`)
	require.Equal(t, "discard 4", <-asked)
	b.Eval(`document.querySelector("#letters button").click()`)
	require.Equal(t, "resend 7", <-asked)
	b.Await(`document.getElementById("letters-result").textContent === "d7: dead again as d10, /user/till, terminated"`)
}
