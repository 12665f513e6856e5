package outbox

import (
	"bytes"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/understudy-go/understudy/remote"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/testkit"
)

func TestOutboxRefusesWhatItHasNoRoomFor(t *testing.T) {
	o := Outbox{MaxFrames: 2, MaxBytes: 10}
	require.True(t, o.Push(numbered(1)))
	require.False(t, o.Push(Frame{Bytes: make([]byte, 10)}), "too many bytes")
	require.True(t, o.Push(numbered(2)))
	require.False(t, o.Push(numbered(3)), "too many frames")

	require.NoError(t, takeAndAcknowledge(&o, 0))
	require.True(t, o.Push(numbered(3)), "what is sent does not wait")
	require.False(t, o.Push(Frame{Bytes: make([]byte, 8)}), "but it takes room")
	require.NoError(t, o.Acknowledge(2))
	require.True(t, o.Push(Frame{Bytes: make([]byte, 8)}), "until it is acknowledged")
}

func TestOutboxTakesOneFrameOfAnySize(t *testing.T) {
	o := Outbox{MaxFrames: 2, MaxBytes: 10}
	require.True(t, o.Push(Frame{Bytes: make([]byte, 100)}))
	require.False(t, o.Push(numbered(1)))
	require.Len(t, o.Take(make([]byte, 0, 10)), 100)
}

func TestOutboxFillsTheBufferWithWholeFrames(t *testing.T) {
	o := Outbox{MaxFrames: 10, MaxBytes: 100}
	for i := range 5 {
		require.True(t, o.Push(numbered(i)))
	}
	require.Equal(t, "01", string(o.Take(make([]byte, 0, 2))))
	require.Equal(t, "234", string(o.Take(make([]byte, 0, 10))))
	require.Empty(t, o.Take(make([]byte, 0, 10)))
}

func TestOutboxRejectsCountsThatCannotBe(t *testing.T) {
	o := Outbox{MaxFrames: 10, MaxBytes: 100}
	for i := range 3 {
		require.True(t, o.Push(numbered(i)))
	}
	require.NoError(t, takeAndAcknowledge(&o, 2))
	require.ErrorIs(t, o.Acknowledge(1), remote.ErrFrame, "fewer than before")
	require.ErrorIs(t, o.Acknowledge(4), remote.ErrFrame, "more than were sent")
	require.NoError(t, o.Acknowledge(2))
	require.NoError(t, o.Acknowledge(3))
}

func TestOutboxDropsOldestThatIsNotSent(t *testing.T) {
	o := Outbox{MaxFrames: 10, MaxBytes: 100}
	for i := range 3 {
		require.True(t, o.Push(numbered(i)))
	}
	require.Equal(t, "0", string(o.Take(make([]byte, 0, 1))))
	require.True(t, o.DropOldest())
	require.Equal(t, "2", string(o.Take(make([]byte, 0, 1))))
	require.False(t, o.DropOldest())
}

func TestANewSessionSendsNothingThatTheOldOneHasSent(t *testing.T) {
	o := Outbox{MaxFrames: 10, MaxBytes: 100}
	for i := range 4 {
		require.True(t, o.Push(numbered(i)))
	}
	o.Take(make([]byte, 0, 3))
	o.Rewind()
	require.Equal(t, "0", string(o.Take(make([]byte, 0, 1))), "the next connection ends before it gets further")
	var doubtful []string
	for _, l := range o.Abandon() {
		doubtful = append(doubtful, string(l.Bytes))
	}
	require.Equal(t, []string{"0", "1", "2"}, doubtful)
	require.Equal(t, "3", string(o.Take(make([]byte, 0, 10))))
}

// The frames that the peer acknowledges and the frames that remain at the end are the frames that
// were pushed, in order, whatever happens in between.
func TestOutboxLosesNothing(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 0)) //nolint:gosec // it makes a test repeatable
		o := Outbox{MaxFrames: 20, MaxBytes: 1000}
		var in, out []string
		peer := 0 // how many the peer has
		var wire []string
		for i := range 300 {
			switch r.IntN(5) {
			case 0, 1:
				x := strconv.Itoa(i) + ","
				if o.Push(Frame{Bytes: []byte(x)}) {
					in = append(in, x)
				}
			case 2:
				before := o.inFlight.len()
				o.Take(make([]byte, 0, r.IntN(20)))
				for _, x := range o.inFlight.frames[o.inFlight.head:][before:] {
					wire = append(wire, string(x.Bytes))
				}
			case 3:
				checkIdentity := r.IntN(len(wire) + 1)
				out = append(out, wire[:checkIdentity]...)
				wire = wire[checkIdentity:]
				peer += checkIdentity
				require.NoError(t, o.Acknowledge(uint64(peer)))
			case 4:
				wire = nil // the connection breaks, and the next one begins where the peer is
				require.NoError(t, o.Acknowledge(uint64(peer)))
				o.Rewind()
			}
		}
		for _, x := range o.Drain() {
			out = append(out, string(x.Bytes))
		}
		require.Equal(t, in, out, "seed %d", seed)
		require.Zero(t, o.bytes)
		require.Zero(t, o.Len())
	}
}

func numbered(i int) Frame { return Frame{Bytes: []byte(strconv.Itoa(i))} }

func takeAndAcknowledge(o *Outbox, count uint64) error {
	o.Take(make([]byte, 0, 100))
	return o.Acknowledge(count)
}

func TestWhatWaitsBehindALargeMessageKeepsItsFrameWhileOthersOvertakeIt(t *testing.T) {
	o := Outbox{MaxFrames: 10_000, MaxBytes: 64 << 20}
	sys := testkit.NewSystem(t, testkit.WithoutEncoding())
	small := func(to string, fill byte) Frame {
		return Frame{Bytes: bytes.Repeat([]byte{fill}, 1000), System: sys, To: to}
	}
	for range 2 * largeBlock / 1000 { // only large blocks are used again
		require.True(t, o.Push(small("c", 1)))
	}
	require.True(t, o.Push(Frame{Bytes: make([]byte, 1<<20), System: sys, To: "a"}))
	require.True(t, o.Push(small("a", 2)), "it waits for the large one")
	behind := o.bulk.frames[len(o.bulk.frames)-1]
	for range 4 * largeBlock / 1000 {
		require.True(t, o.Push(small("c", 3)))
	}
	for o.waiting.len() > 0 { // they overtake the large one, and are acknowledged
		o.Take(make([]byte, 0, 64<<10))
		require.NoError(t, o.Acknowledge(o.acked+uint64(o.inFlight.len())))
	}
	require.Positive(t, o.bulk.len())
	other := Outbox{MaxFrames: 10_000, MaxBytes: 64 << 20}
	for range 8 * largeBlock / 1000 {
		require.True(t, other.Push(small("b", 4)))
	}
	require.Equal(t, bytes.Repeat([]byte{2}, 1000), behind.Bytes)
}

func TestWhatIsTakenAgainCountsAsResentAndNotAsAnotherMessage(t *testing.T) {
	o := Outbox{MaxFrames: 10, MaxBytes: 100}
	for i := range 3 {
		require.True(t, o.Push(numbered(i)))
	}
	o.Take(make([]byte, 0, 2))
	require.Equal(t, Counts{Messages: 2, Bytes: 2}, o.Counts())
	o.Rewind()
	o.Take(make([]byte, 0, 10))
	require.Equal(t, Counts{Messages: 3, Resent: 2, Bytes: 5}, o.Counts())
	require.NoError(t, o.Acknowledge(3))
	sum := o.Counts()
	sum.Add(Counts{Messages: 1, Resent: 1, Bytes: 1})
	require.Equal(t, Counts{Messages: 4, Resent: 3, Bytes: 6}, sum)
}
