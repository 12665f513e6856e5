package outbox

import (
	"bytes"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/internal/metadata"
	"github.com/understudy-go/understudy/internal/transport/wire"
)

// envelopeTo returns a frame with a message of size bytes to an actor.
func envelopeTo(to string, number, size int) Frame {
	data := append([]byte(strconv.Itoa(number)+","), make([]byte, size)...)
	return Frame{Bytes: envelopeFrame(to, extension.Payload{Type: "bytes", Data: data}), System: &actor.System{}, To: to}
}

// arrivals decodes what was written, as a receiver does.
func arrivals(t *testing.T, j *wire.Reassembler, written []byte) (got []wire.Envelope) {
	t.Helper()
	r, f := wire.NewEnvelopeReader(1<<20), wire.NewFrameReader(bytes.NewReader(written), 1<<20)
	for {
		body, err := next(f)
		if err != nil {
			return got
		}
		if wire.IsPart(body) {
			body, _, err = j.Add(r, body, 1<<20)
			require.NoError(t, err)
			if body == nil {
				continue
			}
		}
		env, err := r.Read(body)
		require.NoError(t, err)
		got = append(got, env)
	}
}

func TestSmallMessagesGoBetweenThePartsOfALargeOne(t *testing.T) {
	o := Outbox{MaxFrames: 100, MaxBytes: 1 << 30}
	require.True(t, o.Push(envelopeTo("/user/a", 0, 500_000)))
	require.True(t, o.Push(envelopeTo("/user/a", 1, 10)))
	for i := range 20 {
		require.True(t, o.Push(envelopeTo("/user/b", i, 10)))
	}
	var j wire.Reassembler
	buf := make([]byte, 0, writeBuffer)
	first := arrivals(t, &j, o.Take(buf))
	require.Len(t, first, 20, "all for another actor are in what is written first")
	require.Equal(t, "/user/b", first[0].Path)
	require.NotZero(t, j.Len(), "and so is a part")
	var rest []wire.Envelope
	for o.Unsent() > 0 {
		rest = append(rest, arrivals(t, &j, o.Take(buf))...)
	}
	require.Len(t, rest, 2)
	require.Len(t, rest[0].Payload.Data, 500_002)
	require.Equal(t, "1,", string(rest[1].Payload.Data[:2]), "what is for the same actor comes behind")
}

func TestALargeMessageOvertakesNothing(t *testing.T) {
	o := Outbox{MaxFrames: 1000, MaxBytes: 1 << 30}
	for i := range 100 {
		require.True(t, o.Push(envelopeTo("/user/a", i, 10_000)))
	}
	require.True(t, o.Push(envelopeTo("/user/a", 100, 60_000)))
	require.True(t, o.Push(envelopeTo("/user/a", 101, 1)))
	var j wire.Reassembler
	var got []string
	for o.Unsent() > 0 {
		for _, env := range arrivals(t, &j, o.Take(make([]byte, 0, writeBuffer))) {
			number, _, _ := bytes.Cut(env.Payload.Data, []byte(","))
			got = append(got, string(number))
		}
	}
	require.Len(t, got, 102)
	for i, number := range got {
		require.Equal(t, strconv.Itoa(i), number)
	}
}

func TestALargeMessageCountsOnce(t *testing.T) {
	o := Outbox{MaxFrames: 2, MaxBytes: 1 << 30}
	require.True(t, o.Push(envelopeTo("/user/a", 0, 500_000)))
	require.True(t, o.Push(envelopeTo("/user/a", 1, 500_000)))
	require.False(t, o.Push(envelopeTo("/user/a", 2, 1)))
	lost := OncePerMessage(o.Drain())
	require.Len(t, lost, 2)
	require.Zero(t, o.parts)
	require.Len(t, lost[0].Envelope(), len(envelopeTo("/user/a", 0, 500_000).Bytes))
}

func TestWhatABreakLeavesOfALargeMessageBelongsToItsSession(t *testing.T) {
	o := Outbox{MaxFrames: 100, MaxBytes: 1 << 30}
	require.True(t, o.Push(envelopeTo("/user/a", 0, 500_000)))
	require.True(t, o.Push(envelopeTo("/user/a", 1, 500_000)))
	o.Take(make([]byte, 0, writeBuffer))
	require.NoError(t, o.Acknowledge(1), "one part has arrived")
	require.Len(t, OncePerMessage(o.Abandon()), 1, "the first is lost as a whole")
	var j wire.Reassembler
	var got []wire.Envelope
	for o.Unsent() > 0 {
		got = append(got, arrivals(t, &j, o.Take(make([]byte, 0, writeBuffer)))...)
	}
	require.Len(t, got, 1)
	require.Equal(t, "1,", string(got[0].Payload.Data[:2]))
}

// Whatever breaks, each actor gets its messages in order, and a frame that must be last comes after
// all frames before it.
func TestPartsAndMessagesComeInOrderOverBrokenConnections(t *testing.T) {
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 0)) //nolint:gosec // it makes a test repeatable
		o := Outbox{MaxFrames: 1000, MaxBytes: 1 << 30}
		var in, out [3]int
		afterAll := 0
		var j wire.Reassembler
		var peer uint64 // frames that the peer has
		receive := func(written []byte) {
			frames := wire.NewFrameReader(bytes.NewReader(written), 1<<20)
			for {
				if _, err := next(frames); err != nil {
					break
				}
				peer++
			}
			for _, env := range arrivals(t, &j, written) {
				if env.Path == "/system/last" {
					for i, data := range env.Payload.Data {
						require.GreaterOrEqual(t, out[i], int(data), "seed %d", seed)
					}
					afterAll++
					continue
				}
				to := int(env.Path[len(env.Path)-1] - '0')
				number, _, _ := bytes.Cut(env.Payload.Data, []byte(","))
				require.Equal(t, strconv.Itoa(out[to]), string(number), "seed %d", seed)
				out[to]++
			}
		}
		for range 200 {
			switch r.IntN(5) {
			case 4:
				data := []byte{byte(in[0]), byte(in[1]), byte(in[2])}
				l := Frame{Bytes: envelopeFrame("/system/last", extension.Payload{Data: data}), To: "/system/last", System: &actor.System{}}
				l.SetLast()
				if o.Push(l) {
					afterAll--
				}
			case 0, 1:
				to := r.IntN(3)
				size := []int{5, 100, 20_000, 60_000, 200_000}[r.IntN(5)]
				frame := envelopeTo("/user/"+strconv.Itoa(to), in[to], size)
				if r.IntN(2) == 0 {
					frame.To += "#7" // a ref that has the unique number of the actor
				}
				if o.Push(frame) {
					in[to]++
				}
			case 2:
				receive(o.Take(make([]byte, 0, 1+r.IntN(writeBuffer))))
				if r.IntN(2) == 0 {
					require.NoError(t, o.Acknowledge(peer))
				}
			case 3:
				o.Take(make([]byte, 0, 1+r.IntN(writeBuffer))) // is lost with its connection
				require.NoError(t, o.Acknowledge(peer))
				o.Rewind()
			}
		}
		for o.Unsent() > 0 {
			receive(o.Take(make([]byte, 0, writeBuffer)))
		}
		require.NoError(t, o.Acknowledge(peer))
		require.Equal(t, in, out, "seed %d", seed)
		require.Zero(t, afterAll)
		require.Zero(t, o.bytes)
		require.Zero(t, o.parts)
		require.Empty(t, o.bulky)
	}
}

// writeBuffer is how much is written at once.
const writeBuffer = 64 << 10

// envelopeFrame returns a frame with an envelope.
func envelopeFrame(path string, p extension.Payload) []byte {
	return wire.AppendData(append(wire.BeginEnvelope(nil, path, 0, p.Type, 0), metadata.Empty), 0, p.Data, 0)
}

// next reads until there is a frame.
func next(f *wire.FrameReader) ([]byte, error) {
	for {
		body, missing, err := f.Buffered()
		if missing == 0 {
			return body, err
		}
		if err := f.Fill(missing); err != nil {
			return nil, err
		}
	}
}

func TestTheMemoryOfALargeMessageIsUsedAgainOnceItIsAcknowledged(t *testing.T) {
	reused := func(frame []byte) bool {
		for {
			b, ok := largeBuffers.Get().(*[]byte)
			if !ok || &(*b)[0] == &frame[0] {
				return ok
			}
		}
	}
	again := false
	for range 100 { // a pool may drop what it has
		o := Outbox{MaxFrames: 10, MaxBytes: 1 << 20}
		frame := envelopeTo("/user/a", 0, 100_000)
		require.True(t, o.Push(frame))
		for o.Unsent() > 0 {
			o.Take(make([]byte, 0, writeBuffer))
		}
		total := uint64(o.InFlight())
		require.NoError(t, o.Acknowledge(total-1))
		require.False(t, reused(frame.Bytes))
		require.NoError(t, o.Acknowledge(total))
		again = again || reused(frame.Bytes)
	}
	require.True(t, again)
}
