package window_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/payload"
	"github.com/understudy-go/understudy/internal/window"
)

const limit = 10 // messages in flight

// A frame is a message, an answer or a question for one, on its way.
type frame struct {
	receiver            int // which receiver it is from or for
	first, number       uint64
	isAck, ask, missing bool
	acked, received     uint64
	refused             []window.Refusal
}

// A pair is a sender and its current receiver. The network between them loses, repeats and reorders
// frames.
type pair struct {
	t        *testing.T
	rng      *rand.Rand
	faulty   bool
	out      window.Sender[uint64]
	in       window.Receiver
	receiver int // how many receivers there were before
	net      []frame
	taken    []uint64 // by the current receiver, neither handled nor refused
	last     uint64   // that was taken since the receiver began
	handled  map[uint64]bool
	refused  map[uint64]bool // those that the sender knows
}

func (p *pair) send(f frame) {
	f.receiver = p.receiver
	if p.faulty && p.rng.IntN(5) == 0 {
		return
	}
	p.net = append(p.net, f)
	if p.faulty && p.rng.IntN(8) == 0 {
		p.net = append(p.net, f)
	}
}

func (p *pair) pump() {
	for n, ok := p.out.Next(p.out.Acked() + limit); ok; n, ok = p.out.Next(p.out.Acked() + limit) {
		require.Equal(p.t, n, p.out.At(n), "a number belongs to its message")
		p.send(frame{first: p.out.Acked() + 1, number: n})
	}
}

func (p *pair) answer(missing bool) {
	acked, refused := p.in.Ack()
	require.LessOrEqual(p.t, len(refused), window.MaxRefusals)
	p.send(frame{isAck: true, acked: acked, refused: refused, received: p.in.Received(), missing: missing})
}

func (p *pair) arrive() {
	if len(p.net) == 0 {
		return
	}
	i := 0
	if p.faulty {
		i = p.rng.IntN(min(len(p.net), 4))
	}
	f := p.net[i]
	p.net = append(p.net[:i:i], p.net[i+1:]...)
	switch {
	case f.receiver != p.receiver:
	case f.isAck:
		p.hear(f)
	case f.ask:
		p.in.Begin(f.first)
		p.answer(p.in.Received() < f.number)
	default:
		p.take(f)
	}
}

// hear checks the law: an acknowledged message was handled, or the sender gets its refusal.
func (p *pair) hear(f frame) {
	for _, r := range f.refused {
		if n, ok := p.out.Refused(r, f.acked); ok {
			require.Equal(p.t, r.Number, n)
			p.refused[n] = true
		}
	}
	p.out.Ack(f.acked, func(n uint64) bool {
		require.True(p.t, p.handled[n] || p.refused[n], "%d was neither handled nor refused", n)
		return true
	})
	if f.missing {
		p.out.Rewind(f.received)
	}
	p.pump()
}

func (p *pair) take(f frame) {
	p.in.Begin(f.first)
	switch p.in.Take(f.number) {
	case window.Next:
		require.Equal(p.t, max(p.last, f.first-1)+1, f.number, "in order, without gaps and once")
		p.last = f.number
		if p.rng.IntN(8) == 0 { // it cannot be decoded; those before it may be at work
			p.in.Refuse(f.number, payload.Error{Failed: true})
			p.in.HandledOnly(f.number)
			return
		}
		p.taken = append(p.taken, f.number)
	case window.Known:
		p.answer(false)
	case window.Gap:
		p.answer(true)
	case window.Behind:
	}
}

func (p *pair) handle() {
	if len(p.taken) == 0 {
		return
	}
	n := p.taken[0]
	p.taken = p.taken[1:]
	if p.rng.IntN(4) == 0 {
		p.in.Refuse(n, payload.Error{Failed: true})
	} else {
		p.handled[n] = true
	}
	p.in.Handled(n)
	if p.rng.IntN(3) == 0 {
		p.answer(false)
	}
}

// replace crashes the receiver's process, moves the receiver, or restarts what handles messages.
func (p *pair) replace() {
	p.taken = nil
	before := p.in
	p.in = window.Receiver{}
	switch p.rng.IntN(3) {
	case 0:
		p.in.Learn(before.Ack())
	case 1:
		p.in = before
		p.in.Restart()
		p.last = p.in.Received()
		p.answer(true)
		return
	}
	p.last = p.in.Received()
	p.receiver++
	p.out.Restart()
	p.pump()
}

func (p *pair) ask() {
	if p.out.Pending() {
		p.send(frame{ask: true, first: p.out.Acked() + 1, number: p.out.Sent()})
	}
}

func TestEveryMessageIsHandledOrRefusedInOrderWhateverTheNetworkDoes(t *testing.T) {
	for seed := range uint64(200) {
		p := &pair{t: t, rng: rand.New(rand.NewPCG(seed, 1)), faulty: true, handled: map[uint64]bool{}, refused: map[uint64]bool{}} //nolint:gosec // it must be repeatable
		for range 2000 {
			switch p.rng.IntN(40) {
			case 0:
				p.replace()
			case 1, 2:
				p.ask()
			case 3, 4, 5, 6:
				p.out.Push(p.out.Last() + 1)
				p.pump()
			case 7, 8, 9, 10:
				p.handle()
			default:
				p.arrive()
			}
		}
		p.faulty = false
		for p.out.Len() > 0 {
			if len(p.net) == 0 && len(p.taken) == 0 {
				p.ask()
				require.NotEmpty(t, p.net, "seed %d: something is in flight", seed)
			}
			p.arrive()
			p.handle()
		}
		for n := range p.out.Last() {
			require.True(t, p.handled[n+1] || p.refused[n+1], "seed %d: message %d", seed, n+1)
		}
	}
}

func TestNumbersJoin(t *testing.T) {
	for range 100 {
		var s window.Numbers
		s.AddUpTo(7)
		for i, n := range rand.Perm(50) {
			require.False(t, s.Has(uint64(8+n)))
			s.Add(uint64(8 + n))
			s.Add(uint64(8 + n))
			require.True(t, s.Has(uint64(8+n)))
			require.Equal(t, i == 49, s.UpTo() == 57)
		}
		s.Add(60)
		s.Add(70)
		s.AddUpTo(59)
		require.EqualValues(t, 60, s.UpTo())
		s.AddUpTo(100)
		require.EqualValues(t, 100, s.UpTo())
	}
}

func TestRefusalsBeyondOneAnswerFollowInTheNext(t *testing.T) {
	var r window.Receiver
	const many = 3*window.MaxRefusals + 1
	for n := uint64(1); n <= many; n++ {
		require.Equal(t, window.Next, r.Take(n))
		r.Refuse(n, payload.Error{Failed: true})
		r.Handled(n)
	}
	told := 0
	for first := uint64(1); first <= many; {
		upTo, refused := r.Ack()
		require.LessOrEqual(t, len(refused), window.MaxRefusals)
		require.GreaterOrEqual(t, upTo, first)
		told += len(refused)
		first = upTo + 1
		require.True(t, r.Begin(first))
	}
	require.Equal(t, many, told)
	require.Zero(t, r.Refusals())
}
