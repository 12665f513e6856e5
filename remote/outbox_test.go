package remote

import (
	"bytes"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/testkit"
)

func TestOutboxRefusesWhatItHasNoRoomFor(t *testing.T) {
	o := outbox{maxLetters: 2, maxBytes: 10}
	require.True(t, o.push(numbered(1)))
	require.False(t, o.push(letter{frame: make([]byte, 10)}), "too many bytes")
	require.True(t, o.push(numbered(2)))
	require.False(t, o.push(numbered(3)), "too many letters")

	require.NoError(t, takeAndAcknowledge(&o, 0))
	require.True(t, o.push(numbered(3)), "what is sent does not wait")
	require.False(t, o.push(letter{frame: make([]byte, 8)}), "but it takes room")
	require.NoError(t, o.acknowledge(2))
	require.True(t, o.push(letter{frame: make([]byte, 8)}), "until it is acknowledged")
}

func TestOutboxTakesOneLetterOfAnySize(t *testing.T) {
	o := outbox{maxLetters: 2, maxBytes: 10}
	require.True(t, o.push(letter{frame: make([]byte, 100)}))
	require.False(t, o.push(numbered(1)))
	require.Len(t, o.take(make([]byte, 0, 10)), 100)
}

func TestOutboxFillsTheBufferWithWholeFrames(t *testing.T) {
	o := outbox{maxLetters: 10, maxBytes: 100}
	for i := range 5 {
		require.True(t, o.push(numbered(i)))
	}
	require.Equal(t, "01", string(o.take(make([]byte, 0, 2))))
	require.Equal(t, "234", string(o.take(make([]byte, 0, 10))))
	require.Empty(t, o.take(make([]byte, 0, 10)))
}

func TestOutboxRejectsCountsThatCannotBe(t *testing.T) {
	o := outbox{maxLetters: 10, maxBytes: 100}
	for i := range 3 {
		require.True(t, o.push(numbered(i)))
	}
	require.NoError(t, takeAndAcknowledge(&o, 2))
	require.ErrorIs(t, o.acknowledge(1), ErrFrame, "fewer than before")
	require.ErrorIs(t, o.acknowledge(4), ErrFrame, "more than were sent")
	require.NoError(t, o.acknowledge(2))
	require.NoError(t, o.acknowledge(3))
}

func TestOutboxDropsOldestThatIsNotSent(t *testing.T) {
	o := outbox{maxLetters: 10, maxBytes: 100}
	for i := range 3 {
		require.True(t, o.push(numbered(i)))
	}
	require.Equal(t, "0", string(o.take(make([]byte, 0, 1))))
	require.True(t, o.dropOldest())
	require.Equal(t, "2", string(o.take(make([]byte, 0, 1))))
	require.False(t, o.dropOldest())
}

func TestANewSessionSendsNothingThatTheOldOneHasSent(t *testing.T) {
	o := outbox{maxLetters: 10, maxBytes: 100}
	for i := range 4 {
		require.True(t, o.push(numbered(i)))
	}
	o.take(make([]byte, 0, 3))
	o.rewind()
	require.Equal(t, "0", string(o.take(make([]byte, 0, 1))), "the next connection ends before it gets further")
	var doubtful []string
	for _, l := range o.abandon() {
		doubtful = append(doubtful, string(l.frame))
	}
	require.Equal(t, []string{"0", "1", "2"}, doubtful)
	require.Equal(t, "3", string(o.take(make([]byte, 0, 10))))
}

// What the peer acknowledges and what comes out at the end is what went in, in order,
// whatever happens in between.
func TestOutboxLosesNothing(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 0)) //nolint:gosec // it makes a test repeatable
		o := outbox{maxLetters: 20, maxBytes: 1000}
		var in, out []string
		peer := 0 // how many the peer has
		var wire []string
		for i := range 300 {
			switch r.IntN(5) {
			case 0, 1:
				x := strconv.Itoa(i) + ","
				if o.push(letter{frame: []byte(x)}) {
					in = append(in, x)
				}
			case 2:
				before := o.flying.len()
				o.take(make([]byte, 0, r.IntN(20)))
				for _, x := range o.flying.letters[o.flying.head:][before:] {
					wire = append(wire, string(x.frame))
				}
			case 3:
				checkIdentity := r.IntN(len(wire) + 1)
				out = append(out, wire[:checkIdentity]...)
				wire = wire[checkIdentity:]
				peer += checkIdentity
				require.NoError(t, o.acknowledge(uint64(peer)))
			case 4:
				wire = nil // the connection breaks, and the next one begins where the peer is
				require.NoError(t, o.acknowledge(uint64(peer)))
				o.rewind()
			}
		}
		for _, x := range o.drain() {
			out = append(out, string(x.frame))
		}
		require.Equal(t, in, out, "seed %d", seed)
		require.Zero(t, o.bytes)
		require.Zero(t, o.len())
	}
}

func numbered(i int) letter { return letter{frame: []byte(strconv.Itoa(i))} }

func takeAndAcknowledge(o *outbox, count uint64) error {
	o.take(make([]byte, 0, 100))
	return o.acknowledge(count)
}

func TestWhatWaitsBehindALargeMessageKeepsItsFrameWhileOthersOvertakeIt(t *testing.T) {
	o := outbox{maxLetters: 10_000, maxBytes: 64 << 20}
	sys := testkit.NewSystem(t, testkit.WithoutEncoding())
	small := func(to string, fill byte) letter {
		return letter{frame: bytes.Repeat([]byte{fill}, 1000), sys: sys, to: to}
	}
	for range 2 * largeBlock / 1000 { // only large blocks are used again
		require.True(t, o.push(small("c", 1)))
	}
	require.True(t, o.push(letter{frame: make([]byte, 1<<20), sys: sys, to: "a"}))
	require.True(t, o.push(small("a", 2)), "it waits for the large one")
	behind := o.bulk.letters[len(o.bulk.letters)-1]
	for range 4 * largeBlock / 1000 {
		require.True(t, o.push(small("c", 3)))
	}
	for o.waiting.len() > 0 { // they overtake the large one, and are acknowledged
		o.take(make([]byte, 0, 64<<10))
		require.NoError(t, o.acknowledge(o.acked+uint64(o.flying.len())))
	}
	require.Positive(t, o.bulk.len())
	other := outbox{maxLetters: 10_000, maxBytes: 64 << 20}
	for range 8 * largeBlock / 1000 {
		require.True(t, other.push(small("b", 4)))
	}
	require.Equal(t, bytes.Repeat([]byte{2}, 1000), behind.frame)
}
