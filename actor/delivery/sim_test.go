package delivery

import (
	"flag"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/effort"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/internal/window"
)

var simSeed = flag.Uint64("delivery.seed", 0, "the seed of the only history to simulate; 0 draws some")

// A world is a producer's outbox and a consumer's inbox with a network between them that
// loses, doubles and reorders. The producer stores what it has been told, later.
type world struct {
	t          *testing.T
	rng        *rand.Rand
	out        outbox[bool] // is there more of the message?
	all        []bool       // what was ever in it
	stored     uint64       // all up to this number have been confirmed, as the producer has stored
	in         inbox
	connection uint64
	queue      []uint64        // received by the consumer, not confirmed
	handed     uint64          // the highest number that this consumer was handed
	last       uint64          // the highest number that any consumer has confirmed or refused
	did        map[uint64]bool // the numbers that a handler got
	deferred   uint64          // the highest number of which any consumer has told what has become
	kept       map[uint64]bool // the numbers that the producer has stored as refused
	wire       []any           // under way
	faulty     bool
	flowOnly   bool // nothing is sent twice
	most       int  // parts of a message
	bad        int  // of a hundred messages, nobody can handle
}

func (w *world) sends(msg any) {
	if w.faulty && w.rng.IntN(5) == 0 {
		return
	}
	w.wire = append(w.wire, msg)
	if w.faulty && w.rng.IntN(8) == 0 {
		w.wire = append(w.wire, msg)
	}
}

func (w *world) pump() {
	for n, ok := w.out.next(); ok; n, ok = w.out.next() {
		require.LessOrEqual(w.t, n, max(w.out.Acked(), w.deferred)+w.in.window+uint64(w.most), "never more than the window and a message")
		w.sends(sequenced{Connection: w.connection, First: w.out.Acked() + 1, Number: n, More: w.out.At(n), FlowOnly: w.flowOnly})
	}
}

func (w *world) arrives() {
	if len(w.wire) == 0 {
		return
	}
	i := 0
	if w.faulty {
		i = w.rng.IntN(min(len(w.wire), 4))
	}
	msg := w.wire[i]
	w.wire = append(w.wire[:i:i], w.wire[i+1:]...)
	switch msg := msg.(type) {
	case sequenced:
		w.receive(msg)
	case request:
		if msg.Connection == w.connection {
			w.hears(msg)
			w.pump()
		}
	}
}

// hears checks the law: a handler got each message that counts as confirmed, or the producer knows
// that it was refused. A refusal counts when it is stored, which may take a while.
func (w *world) hears(r request) {
	w.deferred = max(w.deferred, r.Confirmed)
	why := map[uint64]bool{}
	for _, one := range r.Refused {
		why[one.Number] = true
	}
	w.out.request(r, func(more bool) bool {
		number := w.out.Acked() + 1
		if more || w.flowOnly || w.did[number] || w.kept[number] {
			return true
		}
		require.True(w.t, why[number], "%d is neither handled nor refused", number)
		if w.faulty && w.rng.IntN(2) == 0 {
			return false // the queue is slow
		}
		w.kept[number] = true
		return true
	})
}

func (w *world) receive(m sequenced) {
	if m.Connection != w.connection {
		return // to the consumer that has ended
	}
	w.in.begin(m.Connection, m.First)
	if w.in.Refusals() >= mostRefused {
		return
	}
	switch w.in.take(m) {
	case ignore:
	case answer:
		w.sends(w.in.report(false))
	case again:
		w.sends(w.in.report(true))
	case accept:
		require.Greater(w.t, m.Number, w.handed, "no duplicates")
		if !w.flowOnly {
			require.LessOrEqual(w.t, m.Number, max(w.handed, m.First-1)+1, "no gaps")
		}
		w.handed = m.Number
		if !m.More {
			w.queue = append(w.queue, m.Number)
		}
		require.LessOrEqual(w.t, uint64(len(w.queue)), w.in.window)
		w.report()
	}
}

func (w *world) report() {
	if w.in.due() {
		w.sends(w.in.report(false))
	}
}

func (w *world) confirms() {
	if len(w.queue) == 0 {
		return
	}
	n := w.queue[0]
	w.queue = w.queue[1:]
	w.last = max(w.last, n)
	if !w.flowOnly && w.rng.IntN(100) < w.bad {
		w.in.Refuse(n, extension.ErrorPayload{Failed: true})
	} else {
		w.did[n] = true
	}
	w.in.Handled(n)
	w.report()
}

func (w *world) timedOut() {
	if w.out.pending() {
		number := w.out.Acked() + 1
		if w.flowOnly {
			number = w.out.Sent()
		}
		w.sends(sequenced{Connection: w.connection, First: w.out.Acked() + 1, Number: number, Probe: true, More: !w.flowOnly && w.out.At(number), FlowOnly: w.flowOnly})
	}
}

// replaced: the consumer has crashed, and there is another.
func (w *world) replaced() {
	w.connection++
	w.in = inbox{window: w.in.window}
	w.queue, w.handed = nil, 0
	if w.flowOnly {
		w.out.forget()
	}
	w.out.connect()
	w.pump()
}

// restarted: the producer has crashed, and goes on with what its queue knows.
func (w *world) restarted() {
	if w.flowOnly {
		return // nothing is left of it
	}
	w.connection++
	w.out = outbox[bool]{Sender: window.Resume(w.stored, slices.Clone(w.all[w.stored:]))}
	w.out.connect()
	w.pump()
}

// stores is what the producer does from time to time.
func (w *world) stores() { w.stored = w.out.Acked() }

func (w *world) push(more bool) {
	w.out.Push(more)
	w.all = append(w.all, more)
}

func (w *world) happens() {
	switch w.rng.IntN(30) {
	case 0:
		w.timedOut()
	case 1:
		if w.faulty && w.rng.IntN(10) == 0 {
			w.replaced()
		}
	case 2:
		if w.faulty && w.rng.IntN(10) == 0 {
			w.restarted()
		}
	case 3:
		w.stores()
	case 4, 5, 6, 7, 8:
		if w.rng.IntN(w.most) > 0 {
			break
		}
		for range w.rng.IntN(w.most) {
			w.push(true)
		}
		w.push(false)
		w.pump()
	case 9, 10, 11, 12, 13, 14, 15:
		w.confirms()
	default:
		w.arrives()
	}
}

func TestNothingIsLostDoubledOrReorderedWhateverTheNetworkDoes(t *testing.T) {
	seeds := make([]uint64, effort.Count(100, 100, 1000))
	for i := range seeds {
		seeds[i] = rand.Uint64()
	}
	if *simSeed != 0 {
		seeds = []uint64{*simSeed}
	}
	for _, seed := range seeds {
		w := &world{t: t, rng: rand.New(rand.NewPCG(seed, 0)), faulty: true, did: map[uint64]bool{}, kept: map[uint64]bool{}} //nolint:gosec // it must be repeatable
		w.in.window, w.most = 1+w.rng.Uint64N(60), 1
		switch seed % 4 {
		case 0:
			w.flowOnly = true
		case 1:
			w.most, w.in.window = 12, 1+w.rng.Uint64N(12) // more than the window
		}
		w.bad = []int{0, 10, 100}[seed/4%3]
		t.Logf("go test -run NothingIsLost -delivery.seed=%d", seed)
		w.replaced()
		for range 2000 {
			w.happens()
		}
		w.faulty = false
		for range 20_000 {
			if w.out.Acked() == w.out.Last() {
				break
			}
			w.arrives()
			w.confirms()
			if len(w.wire) == 0 && len(w.queue) == 0 {
				w.stores()
				w.timedOut()
			}
		}
		require.Equal(t, w.out.Last(), w.out.Acked(), "seed %d: all is confirmed in the end", seed)
		if !w.flowOnly {
			require.Equal(t, w.out.Last(), w.last)
			for n, more := range w.all {
				n := uint64(n) + 1
				require.True(t, more || w.did[n] || w.kept[n], "message %d of seed %d", n, seed)
			}
		}
	}
}
