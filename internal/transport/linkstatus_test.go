package transport

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestOfManyLinksThoseInTroubleComeFirstAndTheRestIsCounted(t *testing.T) {
	var links []linkStatus
	for n := range 1200 {
		links = append(links, linkStatus{Peer: fmt.Sprintf("10.0.0.%04d:1", n), Name: fmt.Sprintf("n%04d", n), State: connected, Queued: n % 7})
	}
	links[1100].State = failing
	links[1150].Full = true
	fields, problems := sectionOf(links)
	shown := fields["links"].([]linkStatus)
	require.Len(t, shown, 1000)
	require.Equal(t, 200, fields["linksLeftOut"])
	for i, name := range []string{"n1100", "n1150", "n0006", "n0013"} {
		require.Equal(t, name, shown[i].Name)
	}
	require.Len(t, problems, 2)
}

func TestProblemsOfLinksNameTheMemberAndTheReason(t *testing.T) {
	for want, l := range map[string]linkStatus{
		"Messages to cleo wait, because this node cannot connect to it: connection refused.":      {Name: "cleo", State: failing, LastError: "connection refused"},
		"Messages to cleo wait, because this node cannot connect to it: the reason is unknown.":   {Name: "cleo", State: failing},
		"This node and cleo refuse each other: wrong cluster.":                                    {Name: "cleo", State: refused, LastError: "wrong cluster"},
		"The queue of messages to cleo is full: their senders wait, or the messages are dropped.": {Name: "cleo", State: connected, Full: true},
	} {
		_, found := sectionOf([]linkStatus{l})
		require.Len(t, found, 1)
		require.Equal(t, want, found[0].Text)
		require.Equal(t, "cleo", found[0].About)
	}
	_, found := sectionOf([]linkStatus{{Peer: "10.0.0.1:1", State: failing}, {Name: "cleo", State: connected, LastError: "it was cut"}})
	require.Empty(t, found, "it is no member, or works again")
}

func TestTheWorstChannelDecidesTheStateOfALink(t *testing.T) {
	var l linkStatus
	for _, c := range []linkStatus{{State: connected, Queued: 1}, {State: refused, Full: true, Queued: 2}, {State: connecting}} {
		l = l.with(c)
	}
	require.Equal(t, linkStatus{State: refused, Full: true, Queued: 3}, l)
}
