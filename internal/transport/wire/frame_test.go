package wire

import (
	"bytes"
	"errors"
	"io"
	"os"
	"testing"
	"testing/iotest"

	"github.com/understudy-go/understudy/remote"

	"github.com/stretchr/testify/require"
)

func TestFramesComeOutAsTheyWentIn(t *testing.T) {
	bodies := [][]byte{{}, []byte("one"), bytes.Repeat([]byte("large"), 50_000), []byte("last")}
	var stream []byte
	for _, b := range bodies {
		stream = AppendFrame(stream, b)
	}
	for name, src := range map[string]io.Reader{
		"at once":         bytes.NewReader(stream),
		"byte by byte":    iotest.OneByteReader(bytes.NewReader(stream)),
		"with EOF at end": iotest.DataErrReader(bytes.NewReader(stream)),
	} {
		f := NewFrameReader(src, 1<<20)
		for _, want := range bodies {
			got, err := nextFrame(f)
			require.NoError(t, err, name)
			require.True(t, bytes.Equal(want, got), name)
		}
		_, err := nextFrame(f)
		require.ErrorIs(t, err, io.EOF, name)
	}
}

func TestFrameReaderGivesALargeBufferBack(t *testing.T) {
	stream := AppendFrame(AppendFrame(nil, make([]byte, 1<<20)), []byte("small"))
	f := NewFrameReader(bytes.NewReader(stream), 1<<20)
	_, err := nextFrame(f)
	require.NoError(t, err)
	require.Greater(t, len(f.buf), 1<<20)
	_, err = nextFrame(f)
	require.NoError(t, err)
	size := len(f.buf)
	require.LessOrEqual(t, size, readBuffer)
}

func TestAFrameReadersBufferFollowsWhatComesAtOnce(t *testing.T) {
	var stream []byte
	for range 2000 {
		stream = AppendFrame(stream, make([]byte, 100))
	}
	f := NewFrameReader(bytes.NewReader(stream), 1<<20)
	_, err := nextFrame(f)
	require.NoError(t, err)
	size := len(f.buf)
	require.Equal(t, smallReadBuffer, size)
	for range 1999 {
		_, err := nextFrame(f)
		require.NoError(t, err)
	}
	size = len(f.buf)
	require.Equal(t, readBuffer, size, "each read fills it")
	f.Shrink()
	_, err = nextFrame(f)
	require.ErrorIs(t, err, io.EOF)
	size = len(f.buf)
	require.Equal(t, smallReadBuffer, size, "nothing has come for a while")
}

func TestFrameReaderGoesOnAfterATimeout(t *testing.T) {
	stream := AppendFrame(nil, []byte("in two parts"))
	src := io.MultiReader(bytes.NewReader(stream[:7]), onceErr(os.ErrDeadlineExceeded), bytes.NewReader(stream[7:]))
	f := NewFrameReader(src, 100)
	_, err := nextFrame(f)
	require.ErrorIs(t, err, os.ErrDeadlineExceeded)
	body, err := nextFrame(f)
	require.NoError(t, err)
	require.Equal(t, "in two parts", string(body))
}

func TestTooLargeFrameIsRefusedBeforeItIsRead(t *testing.T) {
	header := []byte{0xff, 0xff, 0xff, 0xff}
	for _, read := range []func(io.Reader) ([]byte, error){
		func(r io.Reader) ([]byte, error) { return nextFrame(NewFrameReader(r, 1<<20)) },
		func(r io.Reader) ([]byte, error) { return ReadFrame(r, 1<<20) },
	} {
		_, err := read(bytes.NewReader(header))
		require.ErrorIs(t, err, remote.ErrTooLarge)
		require.ErrorIs(t, err, remote.ErrFrame)
	}
}

func TestFrameThatIsCutOffIsAnError(t *testing.T) {
	stream := AppendFrame(nil, []byte("whole"))
	for cut := 1; cut < len(stream); cut++ {
		_, err := ReadFrame(bytes.NewReader(stream[:cut]), 100)
		require.ErrorIs(t, err, io.ErrUnexpectedEOF)
		_, err = nextFrame(NewFrameReader(bytes.NewReader(stream[:cut]), 100))
		require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	}
}

func FuzzFrame(f *testing.F) {
	f.Add(AppendFrame(AppendFrame(nil, []byte("hello")), nil))
	f.Add([]byte{0, 0, 0})
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 1})
	f.Fuzz(func(t *testing.T, stream []byte) {
		const limit = 1000
		reader := NewFrameReader(iotest.HalfReader(bytes.NewReader(stream)), limit)
		plain := bytes.NewReader(stream)
		for {
			want, wantErr := ReadFrame(plain, limit)
			got, err := nextFrame(reader)
			require.Equal(t, wantErr == nil, err == nil, "%v, %v", wantErr, err)
			if err != nil {
				require.True(t, errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, remote.ErrTooLarge))
				return
			}
			require.True(t, bytes.Equal(want, got))
		}
	})
}

// nextFrame reads until there is a frame.
func nextFrame(f *FrameReader) ([]byte, error) {
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

// onceErr fails once, and then is at its end.
func onceErr(err error) io.Reader { return &failing{err} }

type failing struct{ err error }

func (f *failing) Read([]byte) (int, error) {
	err := f.err
	f.err = io.EOF
	return 0, err
}
