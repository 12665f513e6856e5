package understudytest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/cluster"
	"github.com/understudy-go/understudy/cluster/cron"
	"github.com/understudy-go/understudy/cluster/sharding"
	"github.com/understudy-go/understudy/cmd/understudy/internal/cli"
	"github.com/understudy-go/understudy/cmd/understudy/internal/client"
	"github.com/understudy-go/understudy/cmd/understudy/internal/report"
	"github.com/understudy-go/understudy/cmd/understudy/internal/status"
	"github.com/understudy-go/understudy/singleton"
)

func idle() actor.Behavior[int] { return behaviors.Ignore }

// broken cannot start.
func broken() actor.Behavior[int] {
	return behaviors.Setup(func(ctx *actor.Context[int]) actor.Behavior[int] {
		return ctx.Fail(errors.New("the table orders does not exist"))
	})
}

func TestTheCommandsTellOfAHealthyCluster(t *testing.T) {
	nodes := start(t, []string{"anna", "bert"})
	for _, n := range nodes {
		actor.Spawn(n, behaviors.Singleton(idle), "ledger")
	}
	n := nodes[0]
	n.eventually(t, "anna  yes", "singletons")

	r := n.eventually(t, "problems      0", "status")
	require.Zero(t, r.code)
	for _, line := range []string{"cluster       shop", "node          anna, up", "members       2 up", "agreed        yes", "leader        anna", "singletons    1", "versions      v1.2.0"} {
		require.Contains(t, r.out, line+"\n")
	}
	sum := asJSON[report.Summary](t, n.run(t, "status", "-json"))
	require.Equal(t, map[string]int{"up": 2}, sum.Members)
	require.Equal(t, map[string]int{"connected": 1}, sum.Links)
	require.Contains(t, r.out, "links         1 connected\n")

	require.Equal(t, result{0, "Nothing is wrong, as anna sees it.\n", ""}, n.run(t, "why"))
	require.True(t, asJSON[report.Why](t, n.run(t, "why", "ledger", "-json")).OK)

	members := asJSON[report.Members](t, n.run(t, "members", "-json")).Members
	require.Len(t, members, 2)
	require.True(t, members[0].Leader && members[0].Asked && members[0].Reachable)
	require.Contains(t, n.run(t, "members").out, nodes[1].Address())

	one := asJSON[report.Singletons](t, n.run(t, "singletons", "ledger", "-json")).Singletons[0]
	require.Equal(t, "anna", one.Host)
	require.True(t, one.Running)
	require.EqualValues(t, 1, one.Starts)

	safe := n.run(t, "safe")
	require.Zero(t, safe.code, safe)
	require.Equal(t, "yes: anna can be restarted now\n- What runs here will move: ledger.\n", safe.out)
}

func TestWhyTellsOfASingletonThatFails(t *testing.T) {
	nodes := start(t, []string{"anna"})
	actor.Spawn(nodes[0], behaviors.Singleton(broken, singleton.RestartBackoff(quick)), "orders")
	r := nodes[0].eventually(t, "crash loop: orders fails again and again on anna", "why")
	require.Equal(t, 1, r.code)
	require.Contains(t, r.out, "the table orders does not exist")
	why := asJSON[report.Why](t, nodes[0].run(t, "why", "orders", "-json"))
	require.False(t, why.OK)
	require.Equal(t, report.CrashLoop, why.Problems[0].Kind)
	require.Contains(t, nodes[0].run(t, "status").out, "crash loop: orders")
	r = nodes[0].run(t, "safe")
	require.Equal(t, 1, r.code)
	require.True(t, strings.HasPrefix(r.out, "no: anna should not be restarted now\n- orders fails"), r.out)
	require.Contains(t, r.out, "No other member is up")
	require.Equal(t, result{1, "", "understudy: anna knows no singleton and no member \"nobody\"\n"}, nodes[0].run(t, "why", "nobody"))
	require.Equal(t, result{1, "", "understudy: anna knows no singleton \"nobody\"\n"}, nodes[0].run(t, "singletons", "nobody"))
}

func TestANodeNamesAnActorOfAnotherNodeThatIsBehind(t *testing.T) {
	nodes := start(t, []string{"anna", "bert"})
	ref := actor.Spawn(nodes[1], behaviors.Receive(func(ctx *actor.Context[int], _ int) actor.Behavior[int] {
		<-ctx.Done()
		return behaviors.Same
	}), "till")
	for n := range 1500 {
		ref.Tell(n)
	}
	path := "understudy://shop@" + nodes[1].Address() + "/user/till"

	r := nodes[0].eventually(t, "backlog: The actor /user/till on bert is behind.", "why")
	require.Equal(t, 1, r.code)
	require.Contains(t, r.out, "messages wait for it, and the limit is 1000.\n")
	require.Contains(t, nodes[0].run(t, "why", path).out, "the limit is 1000")
	require.Contains(t, nodes[0].run(t, "status").out, "backlog       "+path+" on bert: 1")
	sum := asJSON[report.Summary](t, nodes[0].run(t, "status", "-json"))
	require.Equal(t, path, sum.Backlogs[0].Actor)
	require.Zero(t, nodes[0].run(t, "safe").code, "a restart may end it")
}

func TestItIsUnsafeToRestartTheOnlyNodeThatMayRunASingleton(t *testing.T) {
	nodes := start(t, []string{"anna", "bert"})
	for _, n := range nodes {
		actor.Spawn(n, behaviors.Singleton(idle, singleton.OnNode("bert")), "printer")
		actor.Spawn(n, behaviors.Singleton(idle, singleton.OnNode("nobody")), "nowhere")
	}
	r := nodes[1].eventually(t, `its place is the node "bert"`, "safe")
	require.Equal(t, 1, r.code)
	nodes[0].eventually(t, "bert  yes", "singletons")
	r = nodes[0].eventually(t, "nowhere: nowhere can run on no member", "why")
	require.Equal(t, 1, r.code)
	require.NotContains(t, r.out, "printer")
}

func TestTheEventsOfAllNodesAreListedTheNewestLast(t *testing.T) {
	nodes := start(t, []string{"anna", "bert", "cleo"}, cluster.AllowActions(allow))
	for _, n := range nodes {
		actor.Spawn(n, behaviors.Singleton(idle), "ledger")
	}
	nodes[0].eventually(t, "anna  yes", "singletons")
	require.NoError(t, nodes[1].Down("anna"))
	both := nodes[1].url + "," + nodes[2].url
	ofCleo := regexp.MustCompile(`(?m)^\S+ \S+ +cleo +1 +member (down|removed) +anna `) // one update may bring both
	var r result
	require.Eventually(t, func() bool { //nolint:forbidigo // real nodes in real time
		r = runWith(t, cli.Env{}, "events", "-url", both)
		moved := strings.Contains(r.out, "failover from anna") || strings.Contains(r.out, "hand-over from anna")
		return moved && ofCleo.MatchString(r.out) && strings.Count(r.out, "from anna to bert: ") == 2
	}, 20*time.Second, 50*time.Millisecond, "%+v", &r)
	require.Zero(t, r.code)
	require.Regexp(t, `(?m)^\S+ \S+ +bert +1 +downing +anna +asked to$`, r.out)
	require.Regexp(t, `(?m)^\S+ \S+ +cleo +1 +singleton moved +ledger +from anna to bert: `, r.out)
	all := asJSON[report.Events](t, runWith(t, cli.Env{}, "events", "-json", "-url", both+",http://127.0.0.1:1/"))
	require.Len(t, all.Silent, 1)
	require.True(t, slices.IsSortedFunc(all.Events, func(a, b status.Event) int { return a.Last.Compare(b.Last) }))
}

func TestDeadLettersAreListed(t *testing.T) {
	n := start(t, []string{"anna"})[0]
	require.Equal(t, result{0, "Every message on this node was delivered.\n", ""}, n.run(t, "dead-letters"))
	for i := range 30 {
		actor.Resolve[string](n.System, fmt.Sprintf("understudy://shop@%s/user/till-%d", n.Address(), i)).Tell("order")
	}
	r := n.run(t, "dead-letters")
	require.Contains(t, r.out, "30  no such actor\n")
	require.Contains(t, r.out, "10 older ones are left out")
	require.Equal(t, 20, strings.Count(r.out, "/user/till-"))
	all := asJSON[status.DeadLetters](t, n.run(t, "dead-letters", "-json", "-recipient", "till-1", "-limit", "-1", "-reason", "no such actor"))
	require.Len(t, all.Letters, 11)
	require.Equal(t, "string", all.Letters[0].Type)
	require.Empty(t, asJSON[status.DeadLetters](t, n.run(t, "dead-letters", "-json", "-reason", "terminated")).Letters)
	require.Contains(t, n.run(t, "status").out, "dead letters  30\n")
}

func TestMessagesThatWereGivenUpAreListedSentAgainAndDiscarded(t *testing.T) {
	nodes := start(t, []string{"anna", "bert"}, cluster.AllowActions(allow))
	var mended atomic.Bool
	sold := make(chan string, 1)
	till := func() actor.Behavior[string] {
		return behaviors.Receive(func(_ *actor.Context[string], order string) actor.Behavior[string] {
			if !mended.Load() {
				panic("the drawer is stuck")
			}
			sold <- order
			return behaviors.Same
		})
	}
	var refs []actor.ActorRef[string]
	for _, n := range nodes {
		refs = append(refs, actor.Spawn(n, behaviors.Singleton(till, singleton.AtLeastOnce(5), singleton.RestartBackoff(quick)), "till"))
	}
	require.Equal(t, result{0, "No message is put aside.\n", ""}, nodes[1].run(t, "given-up"))
	refs[1].Tell("apples")
	nodes[1].eventually(t, "bert  1       till       string", "given-up")
	refs[1].Tell("pears")
	r := nodes[1].eventually(t, "bert  2       till       string", "given-up", "till")
	require.Contains(t, r.out, "the drawer is stuck")
	require.Equal(t, result{0, "No message is put aside.\n", ""}, nodes[1].run(t, "given-up", "another"))
	both := nodes[0].url + "," + nodes[1].url
	all := asJSON[report.GivenUp](t, runWith(t, cli.Env{}, "given-up", "-json", "-url", both+",http://127.0.0.1:1/"))
	require.Len(t, all.Messages, 2)
	require.Len(t, all.Silent, 1)

	require.Equal(t, 2, nodes[1].run(t, "resend").code)
	require.Equal(t, 2, nodes[1].run(t, "resend", "first").code)
	require.Equal(t, result{2, "", "understudy: several URLs: name the one node that keeps the message\n"}, runWith(t, cli.Env{}, "resend", "2", "-url", both))
	require.Contains(t, nodes[0].run(t, "resend", "2").errors, "no message that was given up is kept here under the number: 2")
	mended.Store(true)
	require.Equal(t, result{0, "message 2 is sent again\n", ""}, nodes[1].run(t, "resend", "2"))
	require.Equal(t, "pears", <-sold)
	require.Equal(t, result{0, "message 1 is discarded\n", ""}, nodes[1].run(t, "discard", "1"))
	require.Equal(t, 1, nodes[1].run(t, "discard", "1").code)
	require.Empty(t, asJSON[report.GivenUp](t, nodes[1].run(t, "given-up", "-json")).Messages)
}

func TestAMemberIsTakenDownOnlyWithConfirmation(t *testing.T) {
	nodes := start(t, []string{"anna", "bert", "cleo"}, cluster.AllowActions(allow))
	n := nodes[0]
	require.Equal(t, result{1, "", "understudy: there is no terminal to ask for confirmation; pass -yes\n"}, n.run(t, "down", "cleo"))
	r := n.run(t, "down", "dora", "-yes")
	require.Equal(t, 1, r.code)
	require.Contains(t, r.errors, "anna, bert, cleo")
	for _, answer := range []string{"", "y\n", "bert\n"} {
		r = runWith(t, cli.Env{Terminal: true, Stdin: strings.NewReader(answer)}, "down", "cleo", "-url", n.url)
		require.Equal(t, 1, r.code)
		require.Contains(t, r.errors, "nothing was done")
	}
	require.Contains(t, n.run(t, "status").out, "3 up")

	r = runWith(t, cli.Env{Terminal: true, Stdin: strings.NewReader("cleo\n")}, "down", "cleo", "-url", n.url)
	require.Zero(t, r.code, r)
	require.Equal(t, "anna takes cleo down\n", r.out)
	settle(t, n, without("cleo"))
	r = n.run(t, "down", "bert", "-yes", "-json")
	require.Equal(t, map[string]string{"member": "bert", "by": "anna"}, asJSON[map[string]string](t, r))
}

func TestADrainEndsWhenTheNodeHasLeft(t *testing.T) {
	nodes := start(t, []string{"anna", "bert"}, cluster.AllowActions(allow))
	for _, n := range nodes {
		actor.Spawn(n, behaviors.Singleton(idle), "ledger")
	}
	nodes[0].eventually(t, "anna  yes", "singletons")
	r := nodes[0].run(t, "drain", "-json")
	require.Zero(t, r.code, r)
	done := asJSON[client.Drain](t, r)
	require.Equal(t, "anna", done.Node)
	require.Equal(t, client.Left, done.Outcome)
	require.Equal(t, 1, nodes[0].run(t, "why").code, "it has ended")
	nodes[1].eventually(t, "bert  yes", "singletons")

	require.Contains(t, nodes[0].run(t, "drain").out, "anna has left", "once more is no error")
	r = nodes[1].run(t, "drain", "-no-wait")
	require.Equal(t, result{0, "bert begins to leave\n", ""}, r)
	<-nodes[1].Terminated()
}

func TestADrainEndsWhenTheProgramEnds(t *testing.T) {
	n := start(t, []string{"anna"}, cluster.AllowActions(allow))[0]
	go func() { // the program
		<-n.Terminated()
		n.server.CloseClientConnections()
		n.server.Close()
	}()
	r := n.run(t, "drain")
	require.Zero(t, r.code, r)
	require.Regexp(t, `^anna (has (ended|left) after|does not answer any more after .*; its program has closed the status page)`, r.out)
}

func TestADrainThatTakesTooLongSaysThatItGoesOn(t *testing.T) {
	n := start(t, []string{"anna"}, cluster.AllowActions(allow))[0]
	release := make(chan struct{})
	actor.Spawn(n, behaviors.Receive(func(*actor.Context[int], int) actor.Behavior[int] {
		<-release
		return behaviors.Same
	}), "slow").Tell(1)
	r := n.run(t, "drain", "-timeout", "300ms")
	close(release)
	require.Equal(t, 1, r.code)
	require.Contains(t, r.errors, "anna has not left within 300ms; it goes on leaving")
}

func TestWithoutActionsTheErrorSaysSo(t *testing.T) {
	n := start(t, []string{"anna"})[0]
	const text = "understudy: the program of the node does not allow actions; pass cluster.AllowActions to node.Handler\n"
	require.Equal(t, result{1, "", text}, n.run(t, "drain"))
	require.Equal(t, result{1, "", text}, n.run(t, "down", "anna", "-yes"))
}

func TestARequestHasTheCredentials(t *testing.T) {
	n := start(t, []string{"anna"}, cluster.AllowActions(func(*http.Request) error { return errors.New("operators only") }))[0]
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if user, password, _ := r.BasicAuth(); user+password == "adasecret" || r.Header.Get("X-Token") == "t" {
			n.server.Config.Handler.ServeHTTP(w, r)
			return
		}
		http.Error(w, "password, please", http.StatusUnauthorized)
	}))
	t.Cleanup(server.Close)
	env := func(user string) cli.Env {
		return cli.Env{Getenv: func(name string) string {
			return map[string]string{"UNDERSTUDY_URL": "http://127.0.0.1:1/," + server.URL + "/cluster", "UNDERSTUDY_BASIC": user}[name]
		}}
	}
	require.Zero(t, runWith(t, env("ada:secret"), "status").code)
	require.Zero(t, runWith(t, env(""), "status", "-header", "X-Token: t").code)
	r := runWith(t, env("ada:wrong"), "status")
	require.Equal(t, 1, r.code)
	require.Contains(t, r.errors, "UNDERSTUDY_BASIC")
	require.Equal(t, 2, runWith(t, env("ada"), "status").code)
	require.Equal(t, 2, runWith(t, env(""), "status", "-header", "X-Token").code)
	require.Contains(t, n.run(t, "down", "anna", "-yes").errors, "the node refuses: operators only")
	require.Contains(t, runWith(t, env("ada:secret"), "drain").errors, "name the one node")
}

func TestAnInterruptedCommandEnds(t *testing.T) {
	n := start(t, []string{"anna"}, cluster.AllowActions(allow))[0]
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var errors strings.Builder
	code := cli.Run(ctx, cli.Env{Stdin: strings.NewReader(""), Stdout: &errors, Stderr: &errors, Getenv: func(string) string { return "" }}, []string{"drain", "-url", n.url})
	require.Equal(t, 1, code)
	require.Equal(t, "understudy: interrupted\n", errors.String())
}

func TestTheCommandsTellOfEntities(t *testing.T) {
	nodes := start(t, []string{"anna", "bert"})
	require.Equal(t, result{0, "The node has started no type of entities.\n", ""}, nodes[0].run(t, "entities"))
	for _, n := range nodes {
		region, err := sharding.Start(n.Node, "cart", func(sharding.Entity) actor.Behavior[int] { return idle() }, sharding.Shards(8))
		require.NoError(t, err)
		region.Ref("7").Tell(1)
	}
	n := nodes[0]
	n.eventually(t, "anna", "entities") // a type whose homes are not known yet has none
	n.eventually(t, "cart  8       0", "entities")
	cart := asJSON[report.Entities](t, n.run(t, "entities", "cart", "-json")).Types[0]
	require.Equal(t, 8, cart.Shards)
	require.Equal(t, result{1, "", "understudy: the node has started no type of entities \"order\"\n"}, n.run(t, "entities", "order"))
	safe := asJSON[report.Safe](t, n.run(t, "safe", "-json"))
	require.Contains(t, strings.Join(append(safe.Reasons, safe.Notes...), " "), "shards of cart")
}

func TestTheCommandsTellOfSchedules(t *testing.T) {
	nodes := start(t, []string{"anna", "bert"})
	require.Equal(t, result{0, "The node has started no schedule.\n", ""}, nodes[0].run(t, "schedules"))
	jobs := map[string]cron.Job{"audit": cron.Func(func(context.Context, cron.Run) error { return errors.New("no books") })}
	for _, n := range nodes {
		_, err := cron.Start(n.Node, cron.Config{Jobs: jobs, Entries: []cron.Entry{{Name: "audit", Spec: "0 3 1 1 *"}}})
		require.NoError(t, err)
	}
	n := nodes[0]
	n.eventually(t, "audit  0 3 1 1 *  UTC", "schedules")
	nodes[1].eventually(t, "on another node", "schedules", "cron")
	entry := asJSON[report.Schedules](t, n.run(t, "schedules", "cron", "-json")).Schedules[0].Entries[0]
	require.Equal(t, time.January, entry.Next.Month())
	require.Equal(t, result{1, "", "understudy: the node has started no schedule \"other\"\n"}, n.run(t, "schedules", "other"))
}

// An aisle has no name, so its letters cannot be kept.
type aisle struct{ Number int }

// A priceCheck is a request.
type priceCheck struct{ ReplyTo actor.ActorRef[int] }

func init() { actor.RegisterType[priceCheck]("understudytest.price-check") }

func TestDeadLettersAreSentAgainAndDiscarded(t *testing.T) {
	n := startWith(t, func(cfg *cluster.Config) { cfg.KeepDeadLetters = 10 }, []string{"anna"}, cluster.AllowActions(allow))[0]
	till := func(number int) string { return fmt.Sprintf("understudy://shop@%s/user/till-%d", n.Address(), number) }
	for range 3 {
		actor.Resolve[string](n.System, till(1)).Tell("order")
	}
	actor.Resolve[aisle](n.System, till(2)).Tell(aisle{})
	_, err := actor.Ask(t.Context(), actor.Resolve[priceCheck](n.System, till(3)), func(to actor.ActorRef[int]) priceCheck { return priceCheck{to} })
	require.Error(t, err)
	r := n.run(t, "dead-letters")
	require.Regexp(t, `\nMESSAGE +LAST +COUNT +RECIPIENT`, r.out)
	require.Regexp(t, `\nd1 to d3, 3 in all +\S+ \S+ +3 +`+till(1), r.out)
	require.Regexp(t, `\nnot kept: type understudytest.aisle is not registered; add to an init function: actor.RegisterType\[understudytest.aisle\]\("a stable name"\) +\S+ \S+ +1 +`+till(2), r.out)
	require.Regexp(t, `\nd4 \(its ask has ended\) +\S+ \S+ +1 +`+till(3), r.out)
	all := asJSON[status.DeadLetters](t, n.run(t, "dead-letters", "-json", "-recipient", "till-1"))
	require.Equal(t, []string{"d1", "d2", "d3"}, all.Letters[0].Numbers)

	r = n.run(t, "resend", "d1")
	require.Equal(t, 1, r.code)
	require.Equal(t, "message d1 is a dead letter again, d5: actor: no such actor\n", r.out)
	require.Contains(t, n.run(t, "resend", "d1").errors, "no message of a dead letter is kept here under the number d1")
	sold := make(chan string, 1)
	actor.Spawn(n.System, behaviors.Receive(func(_ *actor.Context[string], order string) actor.Behavior[string] {
		sold <- order
		return behaviors.Same
	}), "till-1")
	require.Equal(t, result{0, "message d2 is delivered to " + till(1) + "\n", ""}, n.run(t, "resend", "d2"))
	require.Equal(t, "order", <-sold)
	require.Equal(t, status.Resent{Number: "d3", To: till(1), Outcome: status.Delivered}, asJSON[status.Resent](t, n.run(t, "resend", "-json", "d3")))
	require.Equal(t, result{0, "message d5 is discarded\n", ""}, n.run(t, "discard", "d5"))
	require.JSONEq(t, `{"number": "d4", "outcome": "discarded"}`, n.run(t, "discard", "-json", "d4").out)
	require.Equal(t, 1, n.run(t, "discard", "d4").code)
	require.NotContains(t, n.run(t, "dead-letters", "-recipient", "till-1").out, "MESSAGE")
}
