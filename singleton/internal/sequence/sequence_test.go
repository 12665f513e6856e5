package sequence

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/singletons/wire"
	"github.com/understudy-go/understudy/internal/window"
	"github.com/understudy-go/understudy/remote"
)

// A parcel is on its way between the two ends of TestAnythingTold....
type parcel struct {
	number, first   uint64 // of a message
	handled, passed uint64 // of an answer
	refused         []window.Refusal
	again           bool
	isAck, isCheck  bool
	to              int // host
}

// A pair is one sender and two hosts, one of which has the instance, with a bad network between
// them.
type pair struct {
	t       *testing.T
	random  *rand.Rand
	out     *Outbox[int]
	hosts   [2]*Receiver
	open    int             // the host with an instance; -1: none
	queue   []uint64        // what the instance has been handed
	done    map[int]int     // how often each message was handled
	refused map[uint64]bool // the messages that the sender knows to be refused
	bad     int             // of a hundred messages, no instance handles
	last    int             // the message that this instance has handled last
	net     []parcel
	faulty  bool
	crashes int
}

var nodeA, nodeB = remote.NodeID{Address: "a", Incarnation: 1}, remote.NodeID{Address: "b", Incarnation: 1}

var errGivenUp = errors.New("given up")

var pairStream = wire.StreamID{Address: "s", Number: 7}

func hostID(n int) remote.NodeID { return remote.NodeID{Address: fmt.Sprint("h", n), Incarnation: 1} }

func (p *pair) send(x parcel) {
	switch r := p.random.IntN(10); {
	case p.faulty && r == 0: // lost
	case p.faulty && r == 1:
		p.net = append(p.net, x, x)
	case p.faulty && r == 2 && len(p.net) > 0:
		at := p.random.IntN(len(p.net))
		p.net = append(p.net[:at:at], append([]parcel{x}, p.net[at:]...)...)
	default:
		p.net = append(p.net, x)
	}
}

func (p *pair) pump() {
	for n, k, ok := p.out.Next(); ok; n, k, ok = p.out.Next() {
		require.Equal(p.t, int(n), k.Msg, "numbers belong to their messages")
		p.send(parcel{number: n, first: p.out.First(), to: p.target()})
	}
}

func (p *pair) target() int {
	if p.out.To() == hostID(1) {
		return 1
	}
	return 0
}

func (p *pair) ack(host int, again bool) {
	ack, _ := p.hosts[host].Ack(pairStream)
	p.send(parcel{isAck: true, handled: ack.Handled, refused: ack.Refused, passed: ack.Received, again: again, to: host})
}

func (p *pair) arrive() {
	if len(p.net) == 0 {
		return
	}
	x := p.net[0]
	p.net = p.net[1:]
	in := p.hosts[x.to]
	switch {
	case x.isAck:
		p.hears(x)
		p.out.Handled(x.handled)
		if x.again {
			p.out.Again(hostID(x.to), x.passed)
		}
		p.pump()
	case x.isCheck:
		received := in.Begin(pairStream, remote.NodeID{}, x.first)
		p.ack(x.to, p.open == x.to && received < x.number)
	default:
		switch in.Take(pairStream, remote.NodeID{}, x.first, x.number, p.open == x.to) {
		case Accept:
			if p.random.IntN(100) < p.bad/2 { // it cannot be decoded
				in.Refuse(pairStream, x.number, errGivenUp)
				in.Skip(pairStream, x.number)
				break
			}
			p.queue = append(p.queue, x.number)
		case AskAgain:
			p.ack(x.to, true)
		case Ignore:
		}
		if len(in.News()) > 0 {
			p.ack(x.to, false)
		}
	}
}

// hears checks the law: every message that counts as handled was handled by an instance, or the
// sender learns that it was refused.
func (p *pair) hears(ack parcel) {
	for _, r := range ack.refused {
		if r.Number <= ack.handled {
			p.refused[r.Number] = true
		}
	}
	for n := p.out.First(); n <= min(ack.handled, p.out.Last()); n++ {
		require.True(p.t, p.done[int(n)] > 0 || p.refused[n], "%d is neither handled nor refused", n)
	}
}

func (p *pair) handle() {
	if p.open < 0 || len(p.queue) == 0 {
		return
	}
	n := p.queue[0]
	p.queue = p.queue[1:]
	require.Greater(p.t, int(n), p.last, "one instance handles in order, each once")
	p.last = int(n)
	if p.random.IntN(100) < p.bad {
		p.hosts[p.open].Refuse(pairStream, n, errGivenUp)
	} else {
		p.done[int(n)]++
	}
	p.hosts[p.open].Handled(pairStream, n)
	if p.random.IntN(3) == 0 && len(p.hosts[p.open].News()) > 0 {
		p.ack(p.open, false)
	}
}

// end ends the instance: it crashes with its process, is restarted in place, or moves.
func (p *pair) end(how int) {
	if p.open < 0 {
		return
	}
	from := p.open
	p.open = -1
	switch how {
	case 0:
		p.hosts[from] = &Receiver{}
		p.queue, p.open = nil, 1-from
		p.crashes++
	case 1:
		p.queue, p.open = nil, from
	case 2:
		p.open = from
		for len(p.queue) > 0 {
			p.handle()
		}
		p.open = 1 - from
		p.hosts[p.open].Learn(p.hosts[from].Watermarks())
	}
	p.last = 0
	if len(p.hosts[p.open].Restart()) > 0 {
		p.ack(p.open, true)
	}
}

func (p *pair) check() {
	p.send(parcel{isCheck: true, first: p.out.First(), number: p.out.Sent(), to: p.target()})
}

func (p *pair) run(steps, messages int, ends bool) {
	told := 0
	for range steps {
		switch p.random.IntN(8) {
		case 0, 1:
			if told < messages {
				told++
				require.Empty(p.t, p.out.Tell(told))
				p.pump()
			}
		case 2, 3, 4:
			p.arrive()
		case 5:
			p.handle()
		case 6:
			if p.random.IntN(4) == 0 {
				p.check()
			}
		case 7:
			switch {
			case ends && p.random.IntN(12) == 0:
				p.end(p.random.IntN(3))
			case p.random.IntN(8) == 0:
				p.out.Pause()
			default:
				p.out.Aim(hostID(max(p.open, 0)))
				p.pump()
			}
		}
	}
	p.faulty = false
	for range 20 * messages {
		p.out.Aim(hostID(p.open))
		p.pump()
		p.check()
		for len(p.net) > 0 {
			p.arrive()
		}
		for len(p.queue) > 0 {
			p.handle()
		}
	}
	require.Equal(p.t, told, int(p.out.First()-1))
	require.Zero(p.t, p.out.Open())
	for n := range told {
		require.True(p.t, p.done[n+1] > 0 || p.refused[uint64(n+1)], "message %d", n+1)
	}
}

func newPair(t *testing.T, seed uint64, window int) *pair {
	return &pair{
		t: t, random: rand.New(rand.NewPCG(seed, 1)), done: map[int]int{}, refused: map[uint64]bool{}, hosts: [2]*Receiver{{}, {}},
		out: NewOutbox[int](window, 1000, all),
	}
}

func TestWhateverIsLostDoubledOrLateEachMessageIsHandled(t *testing.T) {
	for seed := range uint64(400) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			p := newPair(t, seed, 1+int(seed%7))
			p.faulty, p.bad = true, []int{0, 10, 90}[seed%3]
			p.run(1500, 60, true)
		})
	}
}

func TestWhileNoInstanceIsLostEachMessageIsHandledOnce(t *testing.T) {
	for seed := range uint64(200) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			p := newPair(t, seed, 1+int(seed%7))
			p.faulty = true // the network only
			p.run(1500, 60, false)
			for n, times := range p.done {
				require.Equal(t, 1, times, "message %d", n)
			}
		})
	}
}

func TestBeyondTheWindowMessagesWaitAndTheOldestOfThoseGivesWay(t *testing.T) {
	q := NewOutbox[int](2, 1, all)
	q.Aim(nodeA)
	require.Empty(t, q.Tell(1))
	require.Empty(t, q.Tell(2))
	require.Empty(t, q.Tell(3))
	require.Equal(t, []int{3}, q.Tell(4))
	require.Equal(t, []int{1, 2}, sentBy(q))
	q.Handled(1)
	require.Equal(t, []int{4}, sentBy(q))
	require.Equal(t, []int{2, 4}, q.Drain())
	require.Zero(t, q.Open())
}

func TestWithoutABufferOnlyTheWindowIsKept(t *testing.T) {
	q := NewOutbox[int](1, 0, all)
	require.Empty(t, q.Tell(1))
	require.Equal(t, []int{2}, q.Tell(2))
	q.Handled(9) // this number was never sent here
	require.Equal(t, uint64(2), q.First())
}

func TestAnotherTargetGetsWhatHasNotBeenHandled(t *testing.T) {
	q := NewOutbox[int](10, 10, all)
	q.Aim(nodeA)
	for n := range 4 {
		q.Tell(n + 1)
	}
	require.Equal(t, []int{1, 2, 3, 4}, sentBy(q))
	q.Handled(1)
	q.Pause()
	require.True(t, q.Aim(nodeA), "something may have been lost")
	require.Empty(t, sentBy(q))
	require.False(t, q.Aim(nodeB))
	require.Equal(t, []int{2, 3, 4}, sentBy(q))
	q.Again(nodeA, 2)
	require.Empty(t, sentBy(q), "it is not with a any more")
	q.Again(nodeB, 2)
	require.Equal(t, []int{3, 4}, sentBy(q))
}

func sentBy(q *Outbox[int]) (all []int) {
	for _, k, ok := q.Next(); ok; _, k, ok = q.Next() {
		all = append(all, k.Msg)
	}
	return all
}

func TestANumberWithoutAMessageCountsInItsTurn(t *testing.T) {
	in := &Receiver{}
	require.Equal(t, Accept, in.Take(pairStream, nodeA, 1, 1, true))
	require.Equal(t, Accept, in.Take(pairStream, nodeA, 1, 2, true))
	in.Skip(pairStream, 2)
	require.Zero(t, in.stream(pairStream).UpTo(), "1 is at the instance")
	in.Handled(pairStream, 1)
	require.Equal(t, uint64(2), in.stream(pairStream).UpTo())
	require.Equal(t, Accept, in.Take(pairStream, nodeA, 1, 3, true))
	in.Skip(pairStream, 3)
	require.Equal(t, uint64(3), in.stream(pairStream).UpTo())
}

func TestNoMoreRefusalsAreToldThanThereIsRoomFor(t *testing.T) {
	in := &Receiver{}
	const many = 3*window.MaxRefusals + 1
	for n := uint64(1); n <= many; n++ {
		in.Take(pairStream, nodeA, 1, n, true)
		in.Refuse(pairStream, n, errGivenUp)
		in.Skip(pairStream, n)
	}
	next := &Receiver{} // of another host
	next.Learn(in.Watermarks())
	require.Equal(t, uint64(window.MaxRefusals), next.stream(pairStream).UpTo())
	acked, told := uint64(0), 0
	for acked < many {
		in.Begin(pairStream, nodeA, acked+1)
		handled, refused := in.stream(pairStream).Ack()
		require.LessOrEqual(t, len(refused), window.MaxRefusals)
		require.Greater(t, handled, acked)
		acked, told = handled, told+len(refused)
	}
	require.Equal(t, many, told)
	in.Begin(pairStream, nodeA, acked+1)
	require.Zero(t, in.stream(pairStream).Refusals())
}

func TestFailuresCountAtOneMessageOnly(t *testing.T) {
	in := &Receiver{}
	in.Take(pairStream, nodeA, 1, 1, true)
	require.Equal(t, 1, in.Failed(pairStream, 1))
	in.Restart()
	require.Equal(t, 2, in.Failed(pairStream, 1))
	in.Handled(pairStream, 1)
	require.Equal(t, 1, in.Failed(pairStream, 2))
	require.Zero(t, in.Failed(pairStream, 1), "it has been handled")
}

func TestFailuresAreKnownToTheNextHost(t *testing.T) {
	q := NewOutbox[int](5, 5, all)
	for n := range 3 {
		q.Tell(n + 1)
	}
	q.Aim(nodeA)
	sentBy(q)
	first := &Receiver{}
	for n := range uint64(3) {
		require.Equal(t, Accept, first.Take(pairStream, nodeA, 1, n+1, true))
	}
	first.Handled(pairStream, 1)
	require.Equal(t, 1, first.Failed(pairStream, 2))
	require.Equal(t, []wire.StreamID{pairStream}, first.News(), "the sender is told at once")
	ack, _ := first.Ack(pairStream)
	q.Handled(ack.Handled)
	q.Failed(ack.Handled+1, ack.Failures)
	q.Failed(ack.Handled+1, 0) // of an older answer
	q.Failed(ack.Handled, 7)

	q.Aim(nodeB)
	number, k, ok := q.Next()
	require.True(t, ok)
	require.Equal(t, uint64(2), number)
	require.Equal(t, 1, k.Failures)
	second := &Receiver{}
	require.Equal(t, Accept, second.Take(pairStream, nodeB, q.First(), number, true))
	second.HasFailed(pairStream, number, k.Failures)
	require.Equal(t, 2, second.Failed(pairStream, number))

	third := &Receiver{} // after a move, before the sender has got the answer of the second
	third.Learn(second.Watermarks())
	third.HasFailed(pairStream, number, k.Failures)
	require.Equal(t, 3, third.Failed(pairStream, number))
	third.Handled(pairStream, number)
	ack, _ = third.Ack(pairStream)
	require.Zero(t, ack.Failures)
}

func TestStreamsOfFormerNodesAreForgotten(t *testing.T) {
	in := &Receiver{}
	in.Learn([]wire.Watermark{{Stream: pairStream, Handled: 3}, {Stream: wire.StreamID{Address: "x", Number: 1}, Handled: 1}})
	require.Len(t, in.Watermarks(), 2)
	in.Forget(func(address string) bool { return address == "x" })
	require.Equal(t, []wire.Watermark{{Stream: wire.StreamID{Address: "x", Number: 1}, Handled: 1}}, in.Watermarks())
}

func all(int, int) bool { return true }

func TestWhatMayNotEnterTheWindowGetsNoNumber(t *testing.T) {
	var asked [][2]int
	q := NewOutbox[int](2, 10, func(msg, behind int) bool {
		asked = append(asked, [2]int{msg, behind})
		return msg != 3 && msg != 4
	})
	q.Aim(remote.NodeID{Address: "a"})
	for n := range 6 {
		require.Empty(t, q.Tell(n+1))
	}
	require.Equal(t, 4, q.Held())
	q.Handled(1)
	require.Equal(t, [][2]int{{1, 0}, {2, 0}, {3, 3}, {4, 2}, {5, 1}}, asked)
	require.Equal(t, 1, q.Held())
	var sent []int
	for _, k, ok := q.Next(); ok; _, k, ok = q.Next() {
		sent = append(sent, k.Msg)
	}
	require.Equal(t, []int{2, 5}, sent, "1 was handled before it was sent, by another manager's account")
}
