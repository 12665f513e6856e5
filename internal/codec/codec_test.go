package codec

import (
	"bytes"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

type point struct{ X, Y int }

type unregistered struct{}

// versioned is the second form of its type.
type versioned struct{ X int }

func init() {
	Register("codec.point", reflect.TypeFor[point](), false)
	Register("codec.versioned/2", reflect.TypeFor[versioned](), false)
}

func TestWhatIsEncodedComesBackEqual(t *testing.T) {
	for _, v := range []any{
		point{1, -2},
		"text", 42, uint8(7), -1.5, true,
		[]byte{1, 2},
		[]string{"a", "b"},
		map[string]int{"a": 1},
		struct{}{},
		3 * time.Second, time.Date(2026, 11, 20, 12, 0, 0, 123456789, time.UTC),
	} {
		name, data, err := Encode(v)
		require.NoError(t, err)
		got, err := Decode(name, data)
		require.NoError(t, err)
		require.Equal(t, v, got)
	}
}

func TestEqualValuesAreEqualBytes(t *testing.T) {
	_, first, err := Encode(map[string]int{"a": 1, "b": 2, "c": 3})
	require.NoError(t, err)
	for range 20 {
		_, again, err := Encode(map[string]int{"c": 3, "b": 2, "a": 1})
		require.NoError(t, err)
		require.Equal(t, first, again)
	}
}

func TestErrorsSayWhatToDo(t *testing.T) {
	_, _, err := Encode(unregistered{})
	var unknown *UnregisteredError
	require.ErrorAs(t, err, &unknown)
	require.Contains(t, err.Error(), "actor.RegisterType[codec.unregistered]")

	_, err = Decode("nobody.knows", nil)
	var name *UnknownNameError
	require.ErrorAs(t, err, &name)
	require.Contains(t, err.Error(), `actor.RegisterType[T]("nobody.knows")`)

	_, err = Decode("result of codec.versioned/2", nil)
	require.ErrorAs(t, err, &name)
	require.ErrorContains(t, err, "nothing in this process has asked for one yet")
	_, err = Decode("result of nobody.knows", nil)
	require.ErrorContains(t, err, "no type is registered")

	_, err = Decode("codec.versioned/3", nil)
	require.ErrorAs(t, err, &name)
	require.EqualError(t, err, `no type is registered as "codec.versioned/3" here, only "codec.versioned/2": another version of the program has sent or stored it; use a version that knows both, or add to an init function: actor.RegisterType[T]("codec.versioned/3")`)
	for _, other := range []string{"codec.versioned", "codec.versioned/x", "codec.versioned/-1", "versioned/3", "/3"} {
		_, err = Decode(other, nil)
		require.ErrorAs(t, err, &name)
		require.Contains(t, err.Error(), "here; add to an init function", other)
	}

	_, err = Decode("codec.point", []byte{0xff})
	var damaged *DecodeError
	require.ErrorAs(t, err, &damaged)
	require.Contains(t, err.Error(), "decode codec.point")

	_, _, err = Encode(nil)
	require.Error(t, err)
}

func TestWhatFollowsAValueIsAnError(t *testing.T) {
	_, data, err := Encode(point{1, 2})
	require.NoError(t, err)
	_, err = Decode("codec.point", append(data, 0))
	require.Error(t, err)
}

func TestDepthIsBounded(t *testing.T) {
	var v any
	require.Error(t, Unmarshal([]byte(strings.Repeat("\x81", 100)+"\x01"), &v))
}

func TestANameBelongsToOneTypeAndATypeHasOneName(t *testing.T) {
	Register("codec.point", reflect.TypeFor[point](), false) // again is fine
	require.PanicsWithValue(t, `codec: name "codec.point" is taken by type codec.point, cannot give it to codec.unregistered`,
		func() { Register("codec.point", reflect.TypeFor[unregistered](), false) })
	require.PanicsWithValue(t, `codec: type codec.point is registered as "codec.point" already, cannot be "codec.other" as well`,
		func() { Register("codec.other", reflect.TypeFor[point](), false) })
	require.Panics(t, func() { Register("", reflect.TypeFor[unregistered](), false) })
}

func TestAnInterfaceHasANameAndNoValues(t *testing.T) {
	type command interface{ Do() }
	type query interface{ Ask() }
	require.Equal(t, "codec.command", TypeName(reflect.TypeFor[command]()))
	require.Equal(t, "codec.point", TypeName(reflect.TypeFor[point]()))
	Register("codec.instruction/1", reflect.TypeFor[command](), false)
	require.Equal(t, "codec.instruction/1", TypeName(reflect.TypeFor[command]()))
	require.Panics(t, func() { Register("codec.instruction/1", reflect.TypeFor[query](), false) })

	_, err := Decode("codec.instruction/1", []byte{simpleNull})
	require.EqualError(t, err, "decode codec.instruction/1: it is the name of the interface codec.command, which has no values of its own")
	_, ok := DecoderOf[command]("codec.instruction/1")
	require.False(t, ok)
	_, err = Decode("codec.instruction/2", nil)
	require.NotContains(t, err.Error(), "codec.instruction/1")
}

// FuzzDecode checks that nothing that comes from a wire or a disk makes the codec panic,
// and that what it accepts it can encode again.
func FuzzDecode(f *testing.F) {
	for _, v := range []any{point{1, 2}, "text", []string{"a"}, time.Unix(0, 0).UTC()} {
		name, data, err := Encode(v)
		require.NoError(f, err)
		f.Add(name, data)
	}
	f.Fuzz(func(t *testing.T, name string, data []byte) {
		v, err := Decode(name, data)
		if err != nil {
			return
		}
		_, _, err = Encode(v)
		require.NoError(t, err)
	})
}

func TestLargeBuffersAreNotKept(t *testing.T) {
	for _, size := range []int{10, maxKept, 10 * maxKept} {
		v := make([]byte, size)
		_, data, err := Encode(v)
		require.NoError(t, err)
		got, err := Decode("bytes", data)
		require.NoError(t, err)
		require.Equal(t, v, got)
		buf := buffers.Get().(*bytes.Buffer)
		require.LessOrEqual(t, buf.Cap(), maxKept)
		require.Zero(t, buf.Len())
		buffers.Put(buf)
	}
}

func TestOwnedDataIsSharedByTheStringThatIsMostOfIt(t *testing.T) {
	type page struct {
		Title string
		Text  []byte
	}
	Register("codec.page", reflect.TypeFor[page](), false)
	sent := page{Title: "title", Text: []byte(strings.Repeat("text", 100))}
	_, data, err := Encode(sent)
	require.NoError(t, err)
	for name, decode := range map[string]func(string, []byte, Binder) (any, error){"owned": DecodeOwned, "not owned": DecodeAnd} {
		data := slices.Clone(data)
		v, err := decode("codec.page", data, unboundValues{})
		require.NoError(t, err)
		require.Equal(t, sent, v)
		clear(data)
		got := v.(page)
		require.Equal(t, "title", got.Title, name)
		require.Equal(t, name == "owned", got.Text[0] == 0, name)
		require.Equal(t, len(got.Text), cap(got.Text))
	}
	_, data, err = Encode(strings.Repeat("text", 100))
	require.NoError(t, err)
	v, err := DecodeOwned("string", data, unboundValues{})
	require.NoError(t, err)
	data[len(data)-1] = '!'
	require.True(t, strings.HasSuffix(v.(string), "!"))
	_, err = DecodeOwned("string", append(data, 0), unboundValues{})
	require.Error(t, err)
	v, err = DecodeOwned("string", []byte{MajorText}, unboundValues{})
	require.NoError(t, err)
	require.Empty(t, v)
}
