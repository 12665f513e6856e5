package recall

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/remote"
)

var update = flag.Bool("update", false, "write what the buffer does into testdata/buffer")

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
			q := &Buffer[int]{}
			state.reach(q)
			if !q.Clear() {
				q.Hold(1)
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
	reach func(q *Buffer[int])
}{
	{"to nobody", func(q *Buffer[int]) { q.Redirect(nowhere) }},
	{"to itself", func(q *Buffer[int]) { q.Redirect(Route{Kind: ToSelf}) }},
	{"to the instance here", func(q *Buffer[int]) { q.Redirect(here) }},
	{"to a", func(q *Buffer[int]) { q.Redirect(atA) }},
	{"to a, which has messages", toAWithMessages},
	{"to a, which has given back some", func(q *Buffer[int]) {
		toAWithMessages(q)
		q.Returned(nodeA, 3)
		q.Recalled(q.recall.number)
	}},
	{"to nobody, a has messages", func(q *Buffer[int]) {
		toAWithMessages(q)
		q.Redirect(nowhere)
	}},
	{"to itself, a has messages", func(q *Buffer[int]) {
		toAWithMessages(q)
		q.Redirect(Route{Kind: ToSelf})
	}},
	{"to the instance here, recalling from a", func(q *Buffer[int]) {
		toAWithMessages(q)
		q.Redirect(here)
	}},
	{"to b, recalling from a", func(q *Buffer[int]) {
		toAWithMessages(q)
		q.Redirect(atB)
	}},
	{"to a, recalling from a", func(q *Buffer[int]) {
		toAWithMessages(q)
		q.Redirect(atB)
		q.Redirect(atA)
	}},
	{"to nobody, recalling from a", func(q *Buffer[int]) {
		toAWithMessages(q)
		q.Redirect(atB)
		q.Redirect(nowhere)
	}},
}

func toAWithMessages(q *Buffer[int]) {
	q.Redirect(atA)
	q.Sent()
}

var bufferEvents = []struct {
	name   string
	happen func(q *Buffer[int]) []string
}{
	{"tell", func(q *Buffer[int]) []string {
		if q.Clear() {
			q.Sent()
			return []string{"2 goes"}
		}
		q.Hold(2)
		return dropped(q.Shrink(2))
	}},
	{"a gives back", func(q *Buffer[int]) []string { return givenBack(q, nodeA) }},
	{"b gives back", func(q *Buffer[int]) []string { return givenBack(q, nodeB) }},
	{"the recall is answered", func(q *Buffer[int]) []string {
		q.Recalled(q.recall.number)
		return nil
	}},
	{"an earlier recall is answered", func(q *Buffer[int]) []string {
		q.Recalled(q.recall.number - 1)
		return nil
	}},
	{"the recall is given up", func(q *Buffer[int]) []string {
		q.giveUpRecall()
		return nil
	}},
	{"retry", func(q *Buffer[int]) []string {
		q.refused = false
		return nil
	}},
	{"redirect to nobody", func(q *Buffer[int]) []string { return recalls(q.Redirect(nowhere)) }},
	{"redirect to itself", func(q *Buffer[int]) []string { return recalls(q.Redirect(Route{Kind: ToSelf})) }},
	{"redirect to the instance here", func(q *Buffer[int]) []string { return recalls(q.Redirect(here)) }},
	{"redirect to a", func(q *Buffer[int]) []string { return recalls(q.Redirect(atA)) }},
	{"redirect to b", func(q *Buffer[int]) []string { return recalls(q.Redirect(atB)) }},
}

func givenBack(q *Buffer[int], by remote.NodeID) []string {
	return append(recalls(q.Returned(by, 2)), dropped(q.Shrink(2))...)
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
func describeBuffer(q *Buffer[int]) []string {
	var parts []string
	if goes := sendAll(q); len(goes) > 0 {
		parts = append(parts, fmt.Sprintf("%v go", goes))
	}
	if q.Size() > 0 {
		parts = append(parts, fmt.Sprintf("%d wait", q.Size()))
	}
	if q.sentTo != (remote.NodeID{}) {
		parts = append(parts, q.sentTo.Address+" has messages")
	}
	switch {
	case q.recall.Up():
		parts = append(parts, "closed")
	case q.Clear():
		parts = append(parts, "clear")
	default:
		parts = append(parts, "no way")
	}
	return parts
}
