package remote

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/actor/extension"
	"github.com/understudy-go/understudy/internal/codec"
)

// envelopeTo is a letter to an actor with a message of that size.
func envelopeTo(to string, number, size int) letter {
	data := append([]byte(strconv.Itoa(number)+","), make([]byte, size)...)
	return letter{frame: envelopeFrame(to, 0, extension.Payload{Type: "bytes", Data: data}, 0), sys: &actor.System{}, to: to}
}

// arrivals decodes what is on the wire, as a receiver does.
func arrivals(t *testing.T, j *joiner, wire []byte) (got []envelope) {
	t.Helper()
	r, f := newEnvelopeReader(1<<20), newFrameReader(bytes.NewReader(wire), 1<<20)
	for {
		body, err := nextFrame(f)
		if err != nil {
			return got
		}
		if isPart(body) {
			body, _, err = j.join(r, body, 1<<20)
			require.NoError(t, err)
			if body == nil {
				continue
			}
		}
		env, err := r.read(body)
		require.NoError(t, err)
		got = append(got, env)
	}
}

func TestSmallMessagesGoBetweenThePartsOfALargeOne(t *testing.T) {
	o := outbox{maxLetters: 100, maxBytes: 1 << 30}
	require.True(t, o.push(envelopeTo("/user/a", 0, 500_000)))
	require.True(t, o.push(envelopeTo("/user/a", 1, 10)))
	for i := range 20 {
		require.True(t, o.push(envelopeTo("/user/b", i, 10)))
	}
	var j joiner
	buf := make([]byte, 0, writeBuffer)
	first := arrivals(t, &j, o.take(buf))
	require.Len(t, first, 20, "all for another actor are in what is written first")
	require.Equal(t, "/user/b", first[0].path)
	require.NotEmpty(t, j.body, "and so is a part")
	var rest []envelope
	for o.unsent() > 0 {
		rest = append(rest, arrivals(t, &j, o.take(buf))...)
	}
	require.Len(t, rest, 2)
	require.Len(t, rest[0].payload.Data, 500_002)
	require.Equal(t, "1,", string(rest[1].payload.Data[:2]), "what is for the same actor comes behind")
}

func TestALargeMessageCountsOnce(t *testing.T) {
	o := outbox{maxLetters: 2, maxBytes: 1 << 30}
	require.True(t, o.push(envelopeTo("/user/a", 0, 500_000)))
	require.True(t, o.push(envelopeTo("/user/a", 1, 500_000)))
	require.False(t, o.push(envelopeTo("/user/a", 2, 1)))
	lost := oncePerMessage(o.drain())
	require.Len(t, lost, 2)
	require.Zero(t, o.parts)
	require.Len(t, lost[0].envelope(), len(envelopeTo("/user/a", 0, 500_000).frame))
}

func TestWhatABreakLeavesOfALargeMessageBelongsToItsSession(t *testing.T) {
	o := outbox{maxLetters: 100, maxBytes: 1 << 30}
	require.True(t, o.push(envelopeTo("/user/a", 0, 500_000)))
	require.True(t, o.push(envelopeTo("/user/a", 1, 500_000)))
	o.take(make([]byte, 0, writeBuffer))
	require.NoError(t, o.acknowledge(1), "one part has arrived")
	require.Len(t, oncePerMessage(o.abandon()), 1, "the first is lost as a whole")
	var j joiner
	var got []envelope
	for o.unsent() > 0 {
		got = append(got, arrivals(t, &j, o.take(make([]byte, 0, writeBuffer)))...)
	}
	require.Len(t, got, 1)
	require.Equal(t, "1,", string(got[0].payload.Data[:2]))
}

// Whatever breaks, each actor gets what it was told, in order, and what is to be last comes after
// all before it.
func TestPartsAndMessagesComeInOrderOverBrokenConnections(t *testing.T) {
	for seed := range uint64(100) {
		r := rand.New(rand.NewPCG(seed, 0)) //nolint:gosec // it makes a test repeatable
		o := outbox{maxLetters: 1000, maxBytes: 1 << 30}
		var in, out [3]int
		lasts := 0
		var j joiner
		var peer uint64 // frames that the peer has
		receive := func(wire []byte) {
			frames := newFrameReader(bytes.NewReader(wire), 1<<20)
			for {
				if _, err := nextFrame(frames); err != nil {
					break
				}
				peer++
			}
			for _, env := range arrivals(t, &j, wire) {
				if env.path == "/system/last" {
					for i, data := range env.payload.Data {
						require.GreaterOrEqual(t, out[i], int(data), "seed %d", seed)
					}
					lasts++
					continue
				}
				to := int(env.path[len(env.path)-1] - '0')
				number, _, _ := bytes.Cut(env.payload.Data, []byte(","))
				require.Equal(t, strconv.Itoa(out[to]), string(number), "seed %d", seed)
				out[to]++
			}
		}
		for range 200 {
			switch r.IntN(5) {
			case 4:
				data := []byte{byte(in[0]), byte(in[1]), byte(in[2])}
				l := letter{frame: envelopeFrame("/system/last", 0, extension.Payload{Data: data}, 0), to: "/system/last", sys: &actor.System{}, last: true}
				if o.push(l) {
					lasts--
				}
			case 0, 1:
				to := r.IntN(3)
				size := []int{5, 100, 60_000, 200_000}[r.IntN(4)]
				if o.push(envelopeTo("/user/"+strconv.Itoa(to), in[to], size)) {
					in[to]++
				}
			case 2:
				receive(o.take(make([]byte, 0, writeBuffer)))
				if r.IntN(2) == 0 {
					require.NoError(t, o.acknowledge(peer))
				}
			case 3:
				o.take(make([]byte, 0, 1+r.IntN(writeBuffer))) // is lost with its connection
				require.NoError(t, o.acknowledge(peer))
				o.rewind()
			}
		}
		for o.unsent() > 0 {
			receive(o.take(make([]byte, 0, writeBuffer)))
		}
		require.NoError(t, o.acknowledge(peer))
		require.Equal(t, in, out, "seed %d", seed)
		require.Zero(t, lasts)
		require.Zero(t, o.bytes)
		require.Zero(t, o.parts)
		require.Empty(t, o.bulky)
	}
}

// partOf is the body of a frame with a part.
func partOf(left uint64, data string) []byte {
	b := codec.AppendHead(nil, codec.MajorArray, partFields)
	b = codec.AppendHead(b, codec.MajorUint, left)
	return append(codec.AppendHead(b, codec.MajorBytes, uint64(len(data))), data...)
}

// Whatever parts come, each message that cannot be is refused once, and the next one arrives.
func TestPartsThatCannotBeAreRefusedAndCostNoOtherMessage(t *testing.T) {
	for name, parts := range map[string][][]byte{
		"more than the limit":         {partOf(1<<40, "data")},
		"more than the limit, to end": {partOf(200, "data"), partOf(100, string(make([]byte, 100))), partOf(0, string(make([]byte, 100)))},
		"more than the limit at all":  {partOf(97, "data")},
		"nothing in it":               {partOf(7, "")},
		"nothing in the next":         {partOf(7, "data"), partOf(7, "")},
		"another count":               {partOf(7, "data"), partOf(4, "da")},
		"too much":                    {partOf(2, "data"), partOf(3, "data")},
		"no part":                     {{codec.MajorArray | partFields, 7}},
		"no part behind one":          {partOf(7, "data"), {codec.MajorArray | partFields, 7}},
		"largest of all":              {partOf(1<<64-1, "data"), partOf(1<<64-5, "data")},
	} {
		var j joiner
		r, refused := newEnvelopeReader(1<<20), 0
		for _, p := range parts {
			if _, _, err := j.join(r, p, 100); err != nil {
				refused++
			}
		}
		require.Equal(t, 1, refused, name)
		_, _, _ = j.join(r, partOf(6, "good"), 100)
		body, _, err := j.join(r, partOf(0, "as new"), 100)
		require.NoError(t, err, name)
		require.Equal(t, "goodas new", string(body), name)
	}
}

func FuzzParts(f *testing.F) {
	f.Add([]byte{0, 0, 0, 5, codec.MajorArray | partFields, 1, codec.MajorBytes | 1, 7, 0, 0, 0, 4, codec.MajorArray | partFields, 0, codec.MajorBytes | 1, 7})
	f.Add([]byte{0, 0, 0, 6, codec.MajorArray | partFields, 3, codec.MajorBytes | 2, 1, 2, 0, 0, 0, 7, codec.MajorArray | partFields, 0, codec.MajorBytes | 3, 3, 4, 5})
	f.Fuzz(func(t *testing.T, stream []byte) {
		const limit = 1000
		var j joiner
		r, frames := newEnvelopeReader(1<<20), newFrameReader(bytes.NewReader(stream), limit)
		for {
			frame, err := nextFrame(frames)
			if err != nil {
				break
			}
			body, _, err := j.join(r, frame, limit)
			if err != nil && !errors.Is(err, ErrTooLarge) {
				require.ErrorIs(t, err, ErrFrame)
			}
			require.LessOrEqual(t, len(j.body), limit)
			require.LessOrEqual(t, len(body), limit)
			require.False(t, j.refused && len(j.body) > 0)
		}
		_, _, _ = j.join(r, partOf(6, "good"), limit)
		body, _, err := j.join(r, partOf(0, "as new"), limit)
		require.NoError(t, err)
		require.Contains(t, string(body), "good"+"as new")
	})
}
