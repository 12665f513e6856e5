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
	require.Equal(t, []byte{0xa0}, none.Append(nil))
	require.Equal(t, 1, none.Size())
	require.Nil(t, none.Encoded())
	buf, data := make([]byte, 0, 10), []byte{0xa0, 1, 2}
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
	require.Equal(t, encoded, m.Encoded())
	got, rest, err := metadata.Read(append(encoded, "rest"...))
	require.NoError(t, err)
	require.Equal(t, "rest", string(rest))
	require.Equal(t, m, got)
	require.Equal(t, m, metadata.Decode(encoded))
	require.Equal(t, metadata.Metadata{}, metadata.Decode(nil))
	require.Equal(t, metadata.Metadata{}, metadata.Decode(append(encoded, 0)))
}

// What a newer release has set is kept, whatever its type, and passed on.
func TestUnknownKeysAndValuesAreKept(t *testing.T) {
	data, err := codec.Marshal(map[uint64]any{1: []byte("trace"), 77: map[string]any{"a": []any{int64(1), 2.5}}, 99: true})
	require.NoError(t, err)
	m := metadata.Decode(data)
	_, ok := m.Get(77)
	require.False(t, ok)
	got, ok := m.Get(1)
	require.True(t, ok)
	require.Equal(t, "trace", string(got))

	var back map[uint64]any
	require.NoError(t, codec.Unmarshal(m.With(2, []byte{3}).Encoded(), &back))
	require.Equal(t, map[uint64]any{1: []byte("trace"), 2: []byte{3}, 77: map[string]any{"a": []any{int64(1), 2.5}}, 99: true}, back)
}

func TestMetadataThatIsUnusableIsLeftOut(t *testing.T) {
	large := metadata.Metadata{}.With(1, make([]byte, metadata.MaxSize))
	require.False(t, large.Fits())
	text, err := codec.Marshal(map[string]int{"a": 1})
	require.NoError(t, err)
	for name, data := range map[string][]byte{
		"too large":       large.Append(nil),
		"keys of texts":   text,
		"no map":          {0x05},
		"a key two times": {0xa2, 1, 2, 1, 3},
	} {
		m, rest, err := metadata.Read(append(data, 9))
		require.ErrorIs(t, err, metadata.ErrUnusable, name)
		require.Equal(t, []byte{9}, rest, name)
		require.True(t, m.IsEmpty(), name)
	}
	for _, data := range [][]byte{nil, {0xa1}, {0xa1, 1}, {0xbf, 0xff}, large.Append(nil)[:100]} {
		_, rest, err := metadata.Read(data)
		require.Error(t, err)
		require.NotErrorIs(t, err, metadata.ErrUnusable)
		require.Nil(t, rest)
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte{0xa0, 1}, []byte("value"))
	f.Add(metadata.Metadata{}.With(1, []byte("trace")).With(1<<40, []byte("x")).Append(nil), []byte{})
	f.Fuzz(func(t *testing.T, data, value []byte) {
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
