package metadata_test

import (
	"bytes"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/codec"
	"github.com/understudy-go/understudy/internal/metadata"
)

func TestValuesAreFoundByTheirKeys(t *testing.T) {
	var none metadata.Metadata
	require.True(t, none.IsEmpty())
	_, ok := none.Get(metadata.Trace)
	require.False(t, ok)

	m := none.With(metadata.Codec, []byte{7}).With(metadata.Trace, []byte("trace")).With(math.MaxUint64, []byte{})
	for key, want := range map[metadata.Key][]byte{metadata.Trace: []byte("trace"), metadata.Codec: {7}, math.MaxUint64: {}} {
		got, ok := m.Get(key)
		require.True(t, ok)
		require.Equal(t, want, got)
	}
	require.Equal(t, m, none.With(math.MaxUint64, []byte{}).With(metadata.Trace, []byte("other")).With(metadata.Codec, []byte{7}).With(metadata.Trace, []byte("trace")), "the order does not matter")
	require.Equal(t, none, m.With(metadata.Trace, nil).With(metadata.Codec, nil).With(math.MaxUint64, nil).With(5, nil))
}

func TestEmptyMetadataIsOneByteAndCostsNothing(t *testing.T) {
	var none metadata.Metadata
	require.Equal(t, []byte{0x40}, none.Append(nil))
	require.Equal(t, 1, none.Size())
	require.Nil(t, none.Encoded())
	buf, data := make([]byte, 0, 10), []byte{0x40, 1, 2}
	require.Zero(t, testing.AllocsPerRun(100, func() {
		_ = none.Append(buf)
		m, rest, err := metadata.Read(data)
		if !m.IsEmpty() || len(rest) != 2 || err != nil {
			t.Fail()
		}
	}))
}

func TestMetadataSurvivesTheWire(t *testing.T) {
	m := metadata.Metadata{}.With(1, []byte("trace")).With(1000, bytes.Repeat([]byte("x"), 300))
	require.True(t, m.Fits())
	encoded := m.Append(nil)
	require.Len(t, encoded, m.Size())
	require.Equal(t, encoded[3:], m.Encoded(), "in a byte string, whose head has 3 bytes")
	got, rest, err := metadata.Read(append(encoded, "rest"...))
	require.NoError(t, err)
	require.Equal(t, "rest", string(rest))
	require.Equal(t, m, got)
	for want, data := range map[metadata.Metadata][]byte{m: m.Encoded(), {}: nil} {
		got, ok := metadata.Decode(data)
		require.True(t, ok)
		require.Equal(t, want, got)
		require.Len(t, want.Append(nil), want.Size())
	}
}

func TestTheLargestMetadataFits(t *testing.T) {
	m := metadata.Metadata{}.With(1, make([]byte, metadata.MaxSize-5)) // the heads of map, key and value
	require.True(t, m.Fits())
	require.Len(t, m.Append(nil), m.Size())
	got, rest, err := metadata.Read(m.Append(nil))
	require.NoError(t, err)
	require.Empty(t, rest)
	require.Equal(t, m, got)
	require.False(t, m.With(2, []byte{}).Fits())
}

// What a newer release has set is kept, whatever its type, and passed on.
func TestUnknownKeysAndValuesAreKept(t *testing.T) {
	data, err := codec.Marshal(map[uint64]any{1: []byte("trace"), 77: map[string]any{"a": []any{int64(1), 2.5}}, 99: true})
	require.NoError(t, err)
	m, ok := metadata.Decode(data)
	require.True(t, ok)
	_, ok = m.Get(77)
	require.False(t, ok)
	got, ok := m.Get(1)
	require.True(t, ok)
	require.Equal(t, "trace", string(got))

	var back map[uint64]any
	require.NoError(t, codec.Unmarshal(m.With(2, []byte{3}).Encoded(), &back))
	require.Equal(t, map[uint64]any{1: []byte("trace"), 2: []byte{3}, 77: map[string]any{"a": []any{int64(1), 2.5}}, 99: true}, back)
}

// inString is a byte string with that content.
func inString(content []byte) []byte {
	return append(codec.AppendHead(nil, codec.MajorBytes, uint64(len(content))), content...)
}

func TestMetadataThatIsUnusableIsPassedOver(t *testing.T) {
	large := metadata.Metadata{}.With(1, make([]byte, metadata.MaxSize))
	require.False(t, large.Fits())
	text, err := codec.Marshal(map[string]int{"a": 1})
	require.NoError(t, err)
	for name, content := range map[string][]byte{
		"too large":            large.Encoded(),
		"keys of texts":        text,
		"no map":               {0x05},
		"a key two times":      {0xa2, 1, 2, 1, 3},
		"something behind it":  {0xa1, 1, 2, 3},
		"too deep":             append(append([]byte{0xa1, 1}, bytes.Repeat([]byte{0x81}, 100)...), 0),
		"an indefinite length": {0xbf, 1, 2, 0xff},
		"an indefinite value":  {0xa1, 1, 0x5f, 0x41, 7, 0xff},
		"a map without an end": {0xa1, 1},
		"an enormous map":      {0xbb, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff},
		"no CBOR":              {0xff},
	} {
		m, rest, err := metadata.Read(append(inString(content), 9))
		require.ErrorIs(t, err, metadata.ErrUnusable, name)
		require.Equal(t, []byte{9}, rest, name)
		require.True(t, m.IsEmpty(), name)
	}
}

func TestMetadataWithoutAnEndIsMalformed(t *testing.T) {
	whole := metadata.Metadata{}.With(1, make([]byte, 300)).Append(nil)
	for _, data := range [][]byte{nil, {0xa0}, {0x41}, {0x5f, 0x41, 1, 0xff}, {0x58}, {0x5b, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}, whole[:2], whole[:100]} {
		_, rest, err := metadata.Read(data)
		require.Error(t, err)
		require.NotErrorIs(t, err, metadata.ErrUnusable)
		require.Nil(t, rest)
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte{0x40, 1}, []byte("value"))
	f.Add(metadata.Metadata{}.With(1, []byte("trace")).With(1<<40, []byte("x")).Append(nil), []byte{})
	f.Fuzz(func(t *testing.T, data, value []byte) {
		_, left, err := metadata.Read(append(inString(data), value...))
		if err != nil {
			require.ErrorIs(t, err, metadata.ErrUnusable, "whatever it contains")
		}
		require.Equal(t, string(value), string(left))
		m, rest, err := metadata.Read(data)
		if err != nil {
			require.True(t, m.IsEmpty())
			return
		}
		again, left, err := metadata.Read(append(m.Append(nil), rest...))
		require.NoError(t, err)
		require.Equal(t, m, again)
		require.Equal(t, rest, left)
		got, ok := m.With(7, value).Get(7)
		require.Equal(t, value != nil, ok)
		require.Equal(t, string(value), string(got))
	})
}
