package transport_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/understudy-go/understudy/internal/transport"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/memnet"
	"github.com/understudy-go/understudy/internal/telemetrytest"
)

// value returns the value of a series of the node.
func (x *testNode) value(name string, labels ...string) int {
	x.t.Helper()
	return telemetrytest.Value(x.t, x.sys, "understudy_remote_"+name, labels...)
}

func TestMessagesThatAreSentAndReceivedAreCounted(t *testing.T) {
	bubble(t, func(t *testing.T, n *memnet.Network) {
		a, b := start(t, n, "a"), start(t, n, "b")
		spawn[string](b, "inbox")
		to := ref[string](a, b, "/user/inbox")
		to.Tell("one")
		to.Tell("two")
		to.Tell(strings.Repeat("large ", 100_000)) // goes in parts
		soon()
		require.Equal(t, 3, a.value("sent_messages_total", "user"))
		require.Greater(t, a.value("sent_bytes_total", "user"), 600_000)
		require.Equal(t, 3, b.value("received_messages_total", "user"))
		require.Greater(t, b.value("received_bytes_total", "user"), 600_000)
		require.Zero(t, b.value("sent_messages_total", "user"))
		require.Zero(t, a.value("sent_messages_total", "control"))

		a.SendControl(b.Addr(), []byte("beat"))
		soon()
		require.Equal(t, 1, a.value("sent_messages_total", "control"))
		require.Equal(t, 1, b.value("received_messages_total", "control"))
		require.Equal(t, 4, b.value("received_bytes_total", "control"))
		for _, channel := range []string{"user", "control"} {
			require.Equal(t, 1, a.value("links", channel, "connected"))
			require.Zero(t, a.value("queue_messages", channel))
			require.Zero(t, a.value("resent_total", channel))
		}

		time.Sleep(time.Hour)
		require.Zero(t, a.value("links", "user", "connected"), "it was idle for long")
		require.Equal(t, 3, a.value("sent_messages_total", "user"), "what has ended still counts")
		telemetrytest.Check(t, a.sys)
	})
}

func TestQueuesToNodesThatDoNotAnswerAreCounted(t *testing.T) {
	bubble(t, func(t *testing.T, n *memnet.Network) {
		a, b, c := start(t, n, "a"), start(t, n, "b"), start(t, n, "c")
		heal := n.Partition([]string{"a"}, []string{"b", "c"})
		for i := range 5 {
			ref[int](a, b, "/user/inbox").TellNoWait(i)
		}
		ref[int](a, c, "/user/inbox").TellNoWait(1)
		time.Sleep(time.Second)
		synctest.Wait()
		require.Equal(t, 6, a.value("queue_messages", "user"))
		require.Equal(t, 5, a.value("queue_messages_max", "user"))
		require.Zero(t, a.value("links", "user", "connected"))
		require.Equal(t, 2, a.value("links", "user", "failing")+a.value("links", "user", "connecting"))
		heal()
		soon()
		require.Zero(t, a.value("queue_messages", "user"))
	})
}

func TestMessagesThatAreWrittenAgainAreCounted(t *testing.T) {
	bubble(t, func(t *testing.T, n *memnet.Network) {
		a, b := start(t, n, "a"), start(t, n, "b")
		inbox, _ := spawn[int](b, "inbox")
		to := ref[int](a, b, "/user/inbox")
		to.Tell(1)
		soon()
		resume := n.Stall("a", "b")
		to.Tell(2)
		to.Tell(3)
		synctest.Wait()
		n.Sever("a", "b")
		resume()
		time.Sleep(10 * time.Second)
		require.Equal(t, []int{1, 2, 3}, inbox.got())
		require.Positive(t, a.value("resent_total", "user"))
		require.Equal(t, 3, a.value("sent_messages_total", "user"))
		links := linksOf(t, a)
		require.Len(t, links, 1)
		require.Equal(t, "connected", links[0].State)
		require.NotEmpty(t, links[0].LastError)
		require.NotZero(t, links[0].LastErrorAt)
	})
}

func TestConnectionsThatAreRefusedAreCountedByReason(t *testing.T) {
	bubble(t, func(t *testing.T, n *memnet.Network) {
		a := start(t, n, "a", func(c *transport.Config) { c.Cluster = "one" })
		b := start(t, n, "b", func(c *transport.Config) { c.Cluster = "two" })
		spawn[int](a, "inbox")
		ref[int](b, a, "/user/inbox").Tell(1)
		soon()
		require.Positive(t, a.value("refused_total", "wrong cluster"))
		require.Zero(t, a.value("refused_total", "invalid frame"))
		dialRaw(t, n, a).write([]byte("GET / HTTP/1.1\r\nHost: a\r\n\r\n")...)
		soon()
		require.Equal(t, 1, a.value("refused_total", "invalid frame"))
	})
}

func TestMessagesThatCannotBeDecodedAreCounted(t *testing.T) {
	bubble(t, func(t *testing.T, n *memnet.Network) {
		b := start(t, n, "b")
		spawn[int](b, "inbox")
		conn := dialUser(t, n, b)
		conn.tell("unknown", 1)
		conn.tell("int", "no number")
		conn.tell("int", 7)
		conn.tell("understudy/new.kind/1", 1) // is counted as skipped
		soon()
		require.Equal(t, 2, b.value("undecodable_total"))
		require.Equal(t, 4, b.value("received_messages_total", "user"))
	})
}

// A link is what the status page shows of a link.
type link struct {
	Peer, State                     string
	Since                           time.Time
	Queued, Bytes                   int
	Full                            bool
	Dropped                         uint64
	SentMessages, SentBytes         uint64
	ReceivedMessages, ReceivedBytes uint64
	LastError                       string
	LastErrorAt                     time.Time
}

func linksOf(t *testing.T, n *testNode) []link {
	t.Helper()
	details, _ := telemetrytest.Details[struct{ Links []link }](t, n.sys)
	return details.Links
}

func TestLinksAreListedWithWhatWasSentAndReceived(t *testing.T) {
	bubble(t, func(t *testing.T, n *memnet.Network) {
		a, b := start(t, n, "a"), start(t, n, "b")
		spawn[int](b, "inbox")
		ref[int](a, b, "/user/inbox").Tell(1)
		soon()
		sends, receives := linksOf(t, a), linksOf(t, b)
		require.Len(t, sends, 1)
		require.Len(t, receives, 1)
		require.Equal(t, link{Peer: "b:7355", State: "connected", Since: sends[0].Since, SentMessages: 1, SentBytes: sends[0].SentBytes}, sends[0])
		require.NotZero(t, sends[0].Since)
		require.Equal(t, link{Peer: "a:7355", State: "receiving", ReceivedMessages: 1, ReceivedBytes: receives[0].ReceivedBytes}, receives[0])
		require.Greater(t, receives[0].ReceivedBytes, uint64(1))
	})
}

func TestALinkThatCannotConnectTellsSinceWhenAndWhatWaits(t *testing.T) {
	bubble(t, func(t *testing.T, n *memnet.Network) {
		a, b := start(t, n, "a", small), start(t, n, "b")
		spawn[int](b, "inbox")
		to := ref[int](a, b, "/user/inbox")
		heal := n.Partition([]string{"a"}, []string{"b"})
		begun := time.Now()
		for i := range 150 {
			to.TellNoWait(i)
		}
		time.Sleep(4 * time.Second)
		synctest.Wait()
		l := linksOf(t, a)[0]
		require.Equal(t, "failing", l.State)
		require.WithinDuration(t, begun, l.Since, 3*time.Second, "since the first failure")
		require.Equal(t, 100, l.Queued)
		require.Greater(t, l.Bytes, 100)
		require.True(t, l.Full)
		require.Equal(t, uint64(50), l.Dropped)
		require.NotEmpty(t, l.LastError)
		heal()
		soon()
		healed := linksOf(t, a)[0]
		require.Equal(t, "connected", healed.State)
		require.True(t, healed.Since.After(l.Since))
		require.False(t, healed.Full)
		require.Zero(t, healed.Bytes)
		require.Equal(t, uint64(50), healed.Dropped)
	})
}

func TestALinkThatIsRefusedSaysSo(t *testing.T) {
	bubble(t, func(t *testing.T, n *memnet.Network) {
		a := start(t, n, "a", func(c *transport.Config) { c.Cluster = "one" })
		b := start(t, n, "b", func(c *transport.Config) { c.Cluster = "two" })
		ref[int](b, a, "/user/inbox").Tell(1)
		time.Sleep(time.Second)
		l := linksOf(t, b)[0]
		require.Equal(t, "refused", l.State)
		require.Contains(t, l.LastError, "wrong cluster")
	})
}

func TestAClosedEndpointHasNoSeries(t *testing.T) {
	bubble(t, func(t *testing.T, n *memnet.Network) {
		a := start(t, n, "a")
		require.True(t, telemetrytest.Has(a.sys, "understudy_remote_undecodable_total"))
		require.NoError(t, a.Close())
		require.False(t, telemetrytest.Has(a.sys, "understudy_remote_undecodable_total"))
		require.Empty(t, linksOf(t, a))
	})
}
