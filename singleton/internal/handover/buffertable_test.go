package handover

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/node"
)

// testdata/buffer/table.txt lists what a buffer does in every state with every event. A change
// shows as a diff; go test -run Buffer -update writes the file. A state is the route, the node that
// may have messages of ours, and whether the gate is closed; message 1 waits where it cannot be
// sent. An event is the arrival of message 2.
func TestTheBufferDoesWhatTheTableSays(t *testing.T) {
	const file = "testdata/buffer/table.txt"
	var out strings.Builder
	for _, state := range bufferStates {
		fmt.Fprintf(&out, "%s\n", state.name)
		for _, event := range bufferEvents {
			q := &buffer[int]{limit: 2}
			state.reach(q)
			if !q.clear() {
				q.hold(1)
			}
			fmt.Fprintf(&out, "    %-30s %s\n", event.name, strings.Join(append(event.happen(q), describeBuffer(q)...), "; "))
		}
	}
	if *update {
		require.NoError(t, os.WriteFile(file, []byte(out.String()), 0o600))
		return
	}
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, string(text), out.String())
}

var bufferStates = []struct {
	name  string
	reach func(q *buffer[int])
}{
	{"to nobody", func(q *buffer[int]) { q.redirect(nowhere) }},
	{"to itself", func(q *buffer[int]) { q.redirect(Route{Kind: ToSelf}) }},
	{"to the instance here", func(q *buffer[int]) { q.redirect(here) }},
	{"to a", func(q *buffer[int]) { q.redirect(atA) }},
	{"to a, which has messages", toAWithMessages},
	{"to a, which has given back some", func(q *buffer[int]) {
		toAWithMessages(q)
		q.returnedBy(nodeA, 3)
		q.recalled(q.recall.number)
	}},
	{"to nobody, a has messages", func(q *buffer[int]) {
		toAWithMessages(q)
		q.redirect(nowhere)
	}},
	{"to itself, a has messages", func(q *buffer[int]) {
		toAWithMessages(q)
		q.redirect(Route{Kind: ToSelf})
	}},
	{"to the instance here, recalling from a", func(q *buffer[int]) {
		toAWithMessages(q)
		q.redirect(here)
	}},
	{"to b, recalling from a", func(q *buffer[int]) {
		toAWithMessages(q)
		q.redirect(atB)
	}},
	{"to a, recalling from a", func(q *buffer[int]) {
		toAWithMessages(q)
		q.redirect(atB)
		q.redirect(atA)
	}},
	{"to nobody, recalling from a", func(q *buffer[int]) {
		toAWithMessages(q)
		q.redirect(atB)
		q.redirect(nowhere)
	}},
}

func toAWithMessages(q *buffer[int]) {
	q.redirect(atA)
	q.sent()
}

var bufferEvents = []struct {
	name   string
	happen func(q *buffer[int]) []string
}{
	{"tell", func(q *buffer[int]) []string {
		if q.clear() {
			q.sent()
			return []string{"2 goes"}
		}
		return dropped(q.hold(2))
	}},
	{"a gives back", func(q *buffer[int]) []string { return givenBack(q, nodeA) }},
	{"b gives back", func(q *buffer[int]) []string { return givenBack(q, nodeB) }},
	{"the recall is answered", func(q *buffer[int]) []string {
		q.recalled(q.recall.number)
		return nil
	}},
	{"an earlier recall is answered", func(q *buffer[int]) []string {
		q.recalled(q.recall.number - 1)
		return nil
	}},
	{"the recall is given up", func(q *buffer[int]) []string {
		q.giveUpRecall()
		return nil
	}},
	{"retry", func(q *buffer[int]) []string {
		q.retry()
		return nil
	}},
	{"redirect to nobody", func(q *buffer[int]) []string { return recalls(q.redirect(nowhere)) }},
	{"redirect to itself", func(q *buffer[int]) []string { return recalls(q.redirect(Route{Kind: ToSelf})) }},
	{"redirect to the instance here", func(q *buffer[int]) []string { return recalls(q.redirect(here)) }},
	{"redirect to a", func(q *buffer[int]) []string { return recalls(q.redirect(atA)) }},
	{"redirect to b", func(q *buffer[int]) []string { return recalls(q.redirect(atB)) }},
}

func givenBack(q *buffer[int], by node.ID) []string {
	over, recall := q.returnedBy(by, 2)
	return append(recalls(recall), dropped(over)...)
}

func recalls(recall bool) []string {
	if recall {
		return []string{"recall"}
	}
	return nil
}

func dropped(over []int) []string {
	if len(over) > 0 {
		return []string{fmt.Sprintf("%v are dropped", over)}
	}
	return nil
}

// describeBuffer lists the messages that are sent now and those that wait, the node that has
// messages, and the state of the gate.
func describeBuffer(q *buffer[int]) []string {
	var parts []string
	if goes := sendAll(q); len(goes) > 0 {
		parts = append(parts, fmt.Sprintf("%v go", goes))
	}
	if q.size() > 0 {
		parts = append(parts, fmt.Sprintf("%d wait", q.size()))
	}
	if q.sentTo != (node.ID{}) {
		parts = append(parts, q.sentTo.Address+" has messages")
	}
	switch {
	case q.recall.up():
		parts = append(parts, "closed")
	case q.clear():
		parts = append(parts, "clear")
	default:
		parts = append(parts, "no way")
	}
	return parts
}
