package wire

import (
	"bytes"
	"errors"
	"testing"

	"github.com/understudy-go/understudy/remote"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/codec"
)

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
		var j Reassembler
		r, refused := NewEnvelopeReader(1<<20), 0
		for _, p := range parts {
			if _, _, err := j.Add(r, p, 100); err != nil {
				refused++
			}
		}
		require.Equal(t, 1, refused, name)
		_, _, _ = j.Add(r, partOf(6, "good"), 100)
		body, _, err := j.Add(r, partOf(0, "as new"), 100)
		require.NoError(t, err, name)
		require.Equal(t, "goodas new", string(body), name)
	}
}

// What a part announces costs memory only when it arrives.
func TestAnAnnouncementCostsLittle(t *testing.T) {
	const limit, part = 8 << 20, 10_000
	var j Reassembler
	r := NewEnvelopeReader(1 << 20)
	for left := limit - part; left > limit/2; left -= part {
		_, _, err := j.Add(r, partOf(uint64(left), string(make([]byte, part))), limit)
		require.NoError(t, err)
		require.LessOrEqual(t, cap(j.body), max(4*j.Len(), firstGrowth))
	}
	j.Trim()
	require.LessOrEqual(t, cap(j.body), 2*j.Len())
}

func TestAMessageInPartsIsAsLargeAsAnnounced(t *testing.T) {
	var j Reassembler
	r := NewEnvelopeReader(1 << 20)
	var body []byte
	for left := 990_000; left >= 0; left -= 10_000 {
		var err error
		body, _, err = j.Add(r, partOf(uint64(left), string(make([]byte, 10_000))), 1<<20)
		require.NoError(t, err)
	}
	require.Len(t, body, 1_000_000)
	require.Equal(t, 1_000_000, cap(body))
}

func FuzzParts(f *testing.F) {
	f.Add([]byte{0, 0, 0, 5, codec.MajorArray | partFields, 1, codec.MajorBytes | 1, 7, 0, 0, 0, 4, codec.MajorArray | partFields, 0, codec.MajorBytes | 1, 7})
	f.Add([]byte{0, 0, 0, 6, codec.MajorArray | partFields, 3, codec.MajorBytes | 2, 1, 2, 0, 0, 0, 7, codec.MajorArray | partFields, 0, codec.MajorBytes | 3, 3, 4, 5})
	f.Fuzz(func(t *testing.T, stream []byte) {
		const limit = 1000
		var j Reassembler
		r, frames := NewEnvelopeReader(1<<20), NewFrameReader(bytes.NewReader(stream), limit)
		for {
			frame, err := nextFrame(frames)
			if err != nil {
				break
			}
			body, _, err := j.Add(r, frame, limit)
			if err != nil && !errors.Is(err, remote.ErrTooLarge) {
				require.ErrorIs(t, err, remote.ErrFrame)
			}
			require.LessOrEqual(t, len(j.body), limit)
			require.LessOrEqual(t, len(body), limit)
			require.False(t, j.refused && len(j.body) > 0)
		}
		_, _, _ = j.Add(r, partOf(6, "good"), limit)
		body, _, err := j.Add(r, partOf(0, "as new"), limit)
		require.NoError(t, err)
		require.Contains(t, string(body), "good"+"as new")
	})
}
