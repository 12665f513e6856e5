package placement

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/actor/extension"
	"github.com/understudy-go/understudy/testkit"
)

// Cases 106 and 107: requests and answers cross the wire as they are, with and without a
// generation.
func TestMessagesOfAgentsCrossTheWire(t *testing.T) {
	s := testkit.NewSystem(t, testkit.WithoutEncoding())
	gen := Generation{Term: 7, Seq: 42}
	replyTo := testkit.NewProbe[fromAgent](t, s).Ref()
	for _, msg := range []any{
		startRequest{ID: id(1), Label: "a/b", Type: "worker", State: []byte{1, 2}, Generation: gen, Epoch: 3},
		startRequest{ID: requestID{Epoch: 1 << 63, N: 1<<64 - 1}, Label: "a"},
		stopRequest{ID: id(1), Label: "a", Generation: gen, Epoch: 3},
		stopRequest{ID: id(1), Label: "a"},
		reportRequest{Epoch: 9, After: "a"},
	} {
		sent := send{incarnation: 1 << 63, msg: msg}.message(replyTo)
		require.Equal(t, sent, overTheWire(t, s, sent))
	}
	for _, msg := range []fromAgent{
		{StartAck: &startAck{ID: id(1), Label: "a", Error: "no"}},
		{StopAck: &stopAck{ID: id(1), Label: "a"}},
		{StopAck: &stopAck{ID: id(1), Label: "a", Error: "it runs under generation 7.42"}},
		{Ended: &ended{ID: id(1), Label: "a", Error: "why"}},
		{Report: &report{Epoch: 3, Running: []reported{{ID: id(1), Label: "a", Generation: gen, Started: true}, {ID: id(2), Label: "b"}}}},
		{Report: &report{Epoch: 3, After: "a", Running: []reported{{ID: id(2), Label: "b"}}, More: true}},
		{Report: &report{}},
	} {
		msg.Node, msg.Incarnation = "n1", 1<<64-1
		require.Equal(t, msg, overTheWire(t, s, msg))
	}
}

func overTheWire(t *testing.T, s *actor.System, msg any) any {
	t.Helper()
	p, err := extension.Pack(msg)
	require.NoError(t, err)
	back, err := extension.Unpack(s, p)
	require.NoError(t, err)
	return back
}

func TestEachMessageHasItsEpoch(t *testing.T) {
	require.Zero(t, toAgent{}.epoch())
	for _, msg := range []any{startRequest{Epoch: 4}, stopRequest{Epoch: 4}, reportRequest{Epoch: 4}} {
		require.Equal(t, uint64(4), send{msg: msg}.message(fromRef).epoch())
	}
	require.Equal(t, uint64(5), toAgent{Start: &startRequest{Epoch: 4}, Stop: &stopRequest{Epoch: 5}}.epoch())
}

func TestRequestsAreInTheOrderOfTheirCoordinators(t *testing.T) {
	ordered := []requestID{{}, {Epoch: 1, N: 1}, {Epoch: 1, N: 2}, {Epoch: 2, N: 1}}
	for i, a := range ordered {
		for j, b := range ordered {
			require.Equal(t, i < j, a.less(b), "%v and %v", a, b)
		}
	}
	require.True(t, requestID{}.isZero())
	require.Equal(t, "1.2", requestID{Epoch: 1, N: 2}.String())
}

func TestTextsOfErrorsFitOnTheWire(t *testing.T) {
	require.Empty(t, explain(nil))
	long := make([]byte, 5*maxWhy)
	for i := range long {
		long[i] = 0xc3 // no UTF-8
	}
	text := explain(textError(long))
	require.NotEmpty(t, text)
	msg := fromAgent{Node: "n1", StartAck: &startAck{Error: text}}
	require.Equal(t, msg, overTheWire(t, nil, msg))
	require.LessOrEqual(t, len(text), 3*maxWhy)
	require.Contains(t, explain(panickyError{}), "PANIC")
}

type textError string

func (e textError) Error() string { return string(e) }

type panickyError struct{}

func (panickyError) Error() string { panic("no text") }

// Whatever comes from the wire is an error or a message that an agent can take.
func FuzzAgentsTakeAnyMessage(f *testing.F) {
	for _, msg := range []any{startRequest{ID: id(1), Label: "a", Epoch: 1}, stopRequest{ID: id(1), Label: "a", Epoch: 1}, reportRequest{Epoch: 1}} {
		p, err := extension.Pack(send{incarnation: 1, msg: msg}.message(fromRef))
		require.NoError(f, err)
		f.Add(p.Data)
	}
	p, err := extension.Pack(fromAgent{Node: "n", Ended: &ended{Label: "a"}})
	require.NoError(f, err)
	f.Add(p.Data)
	f.Fuzz(func(t *testing.T, data []byte) {
		_, _ = extension.Unpack(nil, extension.Payload{Type: "understudy/placement.from-agent", Data: data})
		v, err := extension.Unpack(nil, extension.Payload{Type: "understudy/placement.to-agent", Data: data})
		if err != nil {
			return
		}
		core := newAgentCore("n1")
		core.step(agentMember{1})
		for range 2 {
			for _, a := range core.step(agentTold{v.(toAgent)}) {
				if l, ok := a.(launch); ok {
					core.step(agentStarted{l.request.Label, l.request.ID})
				}
			}
		}
		core.step(agentPassed{})
	})
}
