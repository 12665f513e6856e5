package home

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/singleton"
	"github.com/understudy-go/understudy/testkit"
)

// Requests and answers cross the wire as they are, with and without a generation.
func TestMessagesOfAgentsCrossTheWire(t *testing.T) {
	s := testkit.NewSystem(t, testkit.WithoutEncoding())
	gen := singleton.Generation{Term: 7, Seq: 42}
	replyTo := testkit.NewProbe[FromAgent](t, s).Ref()
	for _, msg := range []any{
		StartRequest{ID: id(1), Label: "a/b", Type: "worker", State: []byte{1, 2}, Generation: gen, Epoch: 3},
		StartRequest{ID: RequestID{Epoch: 1 << 63, N: 1<<64 - 1}, Label: "a"},
		StopRequest{ID: id(1), Label: "a", Generation: gen, Epoch: 3},
		StopRequest{ID: id(1), Label: "a"},
		ReportRequest{Epoch: 9, After: "a"},
	} {
		sent := Send{Incarnation: 1 << 63, Msg: msg}.Message(replyTo)
		require.Equal(t, sent, overTheWire(t, s, sent))
	}
	for _, msg := range []FromAgent{
		{StartAck: &StartAck{ID: id(1), Label: "a", Error: "no"}},
		{StopAck: &StopAck{ID: id(1), Label: "a"}},
		{StopAck: &StopAck{ID: id(1), Label: "a", Error: "it runs under generation 7.42"}},
		{Ended: &Ended{ID: id(1), Label: "a", Error: "why"}},
		{Report: &Report{Epoch: 3, Running: []Reported{{ID: id(1), Label: "a", Generation: gen, Started: true}, {ID: id(2), Label: "b"}}}},
		{Report: &Report{Epoch: 3, After: "a", Running: []Reported{{ID: id(2), Label: "b"}}, More: true}},
		{Report: &Report{}},
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
	require.Zero(t, ToAgent{}.epoch())
	for _, msg := range []any{StartRequest{Epoch: 4}, StopRequest{Epoch: 4}, ReportRequest{Epoch: 4}} {
		require.Equal(t, uint64(4), Send{Msg: msg}.Message(fromRef).epoch())
	}
	require.Equal(t, uint64(5), ToAgent{Start: &StartRequest{Epoch: 4}, Stop: &StopRequest{Epoch: 5}}.epoch())
}

func TestRequestsAreInTheOrderOfTheirCoordinators(t *testing.T) {
	ordered := []RequestID{{}, {Epoch: 1, N: 1}, {Epoch: 1, N: 2}, {Epoch: 2, N: 1}}
	for i, a := range ordered {
		for j, b := range ordered {
			require.Equal(t, i < j, a.less(b), "%v and %v", a, b)
		}
	}
	require.True(t, RequestID{}.IsZero())
	require.Equal(t, "1.2", RequestID{Epoch: 1, N: 2}.String())
}

func TestTextsOfErrorsFitOnTheWire(t *testing.T) {
	require.Empty(t, ErrorText(nil))
	long := make([]byte, 5*maxErrorText)
	for i := range long {
		long[i] = 0xc3 // no UTF-8
	}
	text := ErrorText(textError(long))
	require.NotEmpty(t, text)
	msg := FromAgent{Node: "n1", StartAck: &StartAck{Error: text}}
	require.Equal(t, msg, overTheWire(t, nil, msg))
	require.LessOrEqual(t, len(text), 3*maxErrorText)
	require.Contains(t, ErrorText(panickyError{}), "PANIC")
}

type textError string

func (e textError) Error() string { return string(e) }

type panickyError struct{}

func (panickyError) Error() string { panic("no text") }

// Whatever comes from the wire is an error or a message that an agent can take.
func FuzzAgentsTakeAnyMessage(f *testing.F) {
	for _, msg := range []any{StartRequest{ID: id(1), Label: "a", Epoch: 1}, StopRequest{ID: id(1), Label: "a", Epoch: 1}, ReportRequest{Epoch: 1}} {
		p, err := extension.Pack(Send{Incarnation: 1, Msg: msg}.Message(fromRef))
		require.NoError(f, err)
		f.Add(p.Data)
	}
	p, err := extension.Pack(FromAgent{Node: "n", Ended: &Ended{Label: "a"}})
	require.NoError(f, err)
	f.Add(p.Data)
	f.Fuzz(func(t *testing.T, data []byte) {
		_, _ = extension.Unpack(nil, extension.Payload{Type: "understudy/home.from-agent", Data: data})
		v, err := extension.Unpack(nil, extension.Payload{Type: "understudy/home.to-agent", Data: data})
		if err != nil {
			return
		}
		core := NewAgent("n1")
		core.Step(AgentMembership{1})
		for range 2 {
			for _, a := range core.Step(AgentReceived{v.(ToAgent)}) {
				if l, ok := a.(Launch); ok {
					core.Step(AgentStarted{l.Request.Label, l.Request.ID})
				}
			}
		}
		core.Step(AgentTick{})
	})
}
