//go:build !quick

package clustertest_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/cluster"
	"github.com/understudy-go/understudy/cluster/sharding"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/testkit/clustertest"
)

// A letterDesk lists the dead letters of a node and sends them again, as the command does.
type letterDesk struct {
	testing.TB
	http.Handler
}

func deskOf(t testing.TB, n *cluster.Node) letterDesk {
	return letterDesk{t, n.Handler(cluster.AllowActions(func(*http.Request) error { return nil }))}
}

func keepingLetters(_ string, cfg *cluster.Config) { cfg.KeepDeadLetters = 100 }

func (d letterDesk) serve(method, target string) *httptest.ResponseRecorder {
	r, w := httptest.NewRequest(method, target, http.NoBody), httptest.NewRecorder()
	r.Header.Set("Understudy-Action", "1")
	d.ServeHTTP(w, r)
	return w
}

type keptLetter struct {
	Recipient, Reason, NotKept string
	Numbers                    []string
	Asked                      bool
}

// to returns the letters whose recipient contains a text, the newest first.
func (d letterDesk) to(recipient string) []keptLetter {
	var all struct{ Letters []keptLetter }
	require.NoError(d, json.Unmarshal(d.serve(http.MethodGet, "/dead-letters?recipient="+recipient).Body.Bytes(), &all))
	return all.Letters
}

type resentLetter struct{ Number, To, Outcome, Reason, Again string }

func (d letterDesk) resend(number string) (r resentLetter) {
	w := d.serve(http.MethodPost, "/actions/resend?number="+number)
	require.Equal(d, http.StatusAccepted, w.Code, w.Body)
	require.NoError(d, json.Unmarshal(w.Body.Bytes(), &r))
	return r
}

// A record has what actors have got.
type record struct {
	mu  sync.Mutex // guards got
	got []string
}

func (r *record) note(who, msg string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.got = append(r.got, who+" got "+msg)
}

func (r *record) behavior(who string) actor.Behavior[string] {
	return behaviors.Receive(func(_ *actor.Context[string], msg string) actor.Behavior[string] {
		if strings.HasPrefix(msg, "slow") {
			time.Sleep(time.Second)
		}
		r.note(who, msg)
		return behaviors.Same
	})
}

func (r *record) all() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]string{}, r.got...)
}

// resendLetters sends all messages again that the nodes keep, and returns what became of them.
func resendLetters(t *testing.T, nodes ...*cluster.Node) (all []resentLetter) {
	t.Helper()
	for _, n := range nodes {
		desk := deskOf(t, n)
		for _, l := range desk.to("") {
			for _, number := range l.Numbers {
				all = append(all, desk.resend(number))
			}
		}
	}
	return all
}

func TestADeadLetterIsSentAgainToAnEntityWhereverItIs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := clustertest.Start(t, 2, keepingLetters)
		r := new(record)
		var carts []*sharding.Region[string]
		for _, n := range c.Nodes() {
			all, err := sharding.Start(n, "my cart", func(e sharding.Entity) actor.Behavior[string] { return r.behavior("cart " + e.ID) },
				sharding.SpawnOptions(actor.Bounded(1)))
			require.NoError(t, err)
			carts = append(carts, all)
		}
		c.AwaitQuiet()
		for id := range 8 {
			for i := range 2 {
				carts[0].Ref(fmt.Sprint("no. ", id)).Tell(fmt.Sprint("slow ", i))
			}
		}
		time.Sleep(time.Minute)
		require.Len(t, r.all(), 8)
		require.NotEmpty(t, deskOf(t, c.Node("n1")).to("/system/shards/"))
		require.NotEmpty(t, deskOf(t, c.Node("n2")).to("/system/shards/"))

		gone := c.Node("n2")
		c.Leave("n2") // its entities move, its letters stay
		for _, again := range resendLetters(t, c.Node("n1")) {
			require.Equal(t, "sent", again.Outcome)
			require.Contains(t, again.To, "understudy://test/sharding/my~20cart/no.~20")
		}
		time.Sleep(time.Minute)
		mine := len(r.all()) - 8
		require.Positive(t, mine)
		for _, again := range resendLetters(t, gone) {
			require.Equal(t, "dead again", again.Outcome)
		}
		require.Len(t, deskOf(t, gone).to("/sharding/"), 8-mine, "a node that has left keeps its letters until its program ends")
	})
}

func TestADeadLetterIsSentAgainToASingletonWhereverItIs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := clustertest.Start(t, 2, keepingLetters)
		r := new(record)
		var refs []actor.ActorRef[string]
		for _, n := range c.Nodes() {
			refs = append(refs, actor.Spawn(n, behaviors.Singleton(func() actor.Behavior[string] { return r.behavior("ledger") }), "ledger", actor.Bounded(1)))
		}
		c.AwaitQuiet()
		for i := range 3 {
			refs[0].Tell(fmt.Sprint("slow ", i))
		}
		time.Sleep(time.Minute)
		require.Equal(t, []string{"ledger got slow 0"}, r.all())
		gone := c.Node("n1")
		require.NotEmpty(t, deskOf(t, gone).to("/user/ledger/instance"))
		c.Leave("n1")
		extension.DeadLetter(c.Node("n2").System, "understudy://test@n1:7355/user/ledger/instance#7", "from n1", actor.ErrUnreachable)
		extension.DeadLetter(c.Node("n2").System, "singleton ledger", "between managers", actor.ErrUnreachable)
		for _, again := range resendLetters(t, c.Node("n2")) {
			require.Equal(t, resentLetter{Number: again.Number, To: "understudy://test@n2:7355/user/ledger", Outcome: "delivered"}, again)
			time.Sleep(time.Second)
		}
		require.ElementsMatch(t, []string{"ledger got slow 0", "ledger got from n1", "ledger got between managers"}, r.all())
	})
}

func TestADeadLetterIsSentAgainToAnActorOfAnotherNode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := clustertest.Start(t, 3, keepingLetters)
		r, path := new(record), "understudy://test@n2:7355/user/till"
		sender := deskOf(t, c.Node("n1"))
		actor.Resolve[string](c.Node("n1").System, path).Tell("apples")
		c.AwaitQuiet()
		there := deskOf(t, c.Node("n2"))
		require.Equal(t, []keptLetter{{path, "no such actor", "", []string{"d1"}, false}}, there.to("/user/till"), "where it was found out")
		require.Empty(t, sender.to("/user/till"))

		extension.DeadLetter(c.Node("n1").System, path, "pears", actor.ErrUnreachable)
		require.Equal(t, resentLetter{Number: "d1", To: path, Outcome: "sent"}, sender.resend("d1"))
		c.AwaitQuiet()
		require.Len(t, there.to("/user/till")[0].Numbers, 2, "it has died again there, where the path has no actor")
		actor.Spawn(c.Node("n2"), r.behavior("till"), "till")
		for _, again := range resendLetters(t, c.Node("n2")) {
			require.Equal(t, "delivered", again.Outcome)
		}
		require.Equal(t, []string{"till got apples", "till got pears"}, r.all())

		extension.DeadLetter(c.Node("n1").System, "understudy://test@n3:7355/user/till", "plums", actor.ErrUnreachable)
		c.Crash("n3")
		time.Sleep(time.Minute)
		require.Equal(t, "sent", sender.resend("d2").Outcome)
		time.Sleep(time.Minute)
		require.Equal(t, []string{"d3"}, sender.to("n3:7355/user/till")[0].Numbers, "the node has found out that nobody takes it")
	})
}

func TestOnlyWhoMayActCanSendADeadLetterAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := clustertest.Start(t, 1, keepingLetters)
		n := c.Node("n1")
		extension.DeadLetter(n.System, "understudy://test@n1:7355/user/till", "apples", actor.ErrUnreachable)
		for want, h := range map[int]http.Handler{
			http.StatusForbidden: n.Handler(cluster.AllowActions(func(*http.Request) error { return errors.New("operators only") })),
			http.StatusNotFound:  n.Handler(),
		} {
			for _, action := range []string{"resend", "discard"} {
				require.Equal(t, want, letterDesk{t, h}.serve(http.MethodPost, "/actions/"+action+"?number=d1").Code)
			}
		}
		desk := deskOf(t, n)
		require.Equal(t, []string{"d1"}, desk.to("till")[0].Numbers)
		require.Equal(t, http.StatusNotFound, desk.serve(http.MethodPost, "/actions/resend?number=1").Code, "this is of a message that was given up")
		require.Equal(t, http.StatusBadRequest, desk.serve(http.MethodPost, "/actions/resend?number=dd1").Code)
		require.Equal(t, http.StatusAccepted, desk.serve(http.MethodPost, "/actions/discard?number=d1").Code)
		w := desk.serve(http.MethodPost, "/actions/resend?number=d1")
		require.Equal(t, http.StatusNotFound, w.Code)
		require.Contains(t, w.Body.String(), "it was sent again or discarded")
	})
}
