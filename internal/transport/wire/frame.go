package wire

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/understudy-go/understudy/remote"
)

// HeaderSize is the size of the length before a frame's body: four bytes, big-endian.
const HeaderSize = 4

// AppendFrame appends body as a frame to buf.
func AppendFrame(buf, body []byte) []byte {
	buf = binary.BigEndian.AppendUint32(buf, uint32(len(body)))
	return append(buf, body...)
}

// The frame begins at begin and ends with buf.
func putSize(buf []byte, begin int) []byte {
	binary.BigEndian.PutUint32(buf[begin:], uint32(len(buf)-begin-HeaderSize))
	return buf
}

// ReadFrame reads one frame and not a byte more. It fails with [remote.ErrTooLarge] before it
// allocates memory for a body beyond limit.
func ReadFrame(r io.Reader, limit int) ([]byte, error) {
	var header [HeaderSize]byte
	if _, err := io.ReadFull(r, header[:]); err != nil {
		return nil, err
	}
	size, err := bodySize(header[:], limit)
	if err != nil {
		return nil, err
	}
	body := make([]byte, size)
	if _, err := io.ReadFull(r, body); err != nil {
		return nil, UnexpectedEOF(err)
	}
	return body, nil
}

func bodySize(header []byte, limit int) (int, error) {
	size := binary.BigEndian.Uint32(header)
	if int64(size) > int64(limit) {
		return 0, fmt.Errorf("%w: %w: %d bytes, the limit is %d", remote.ErrFrame, remote.ErrTooLarge, size, limit)
	}
	return int(size), nil
}

// UnexpectedEOF returns err, with io.EOF replaced by io.ErrUnexpectedEOF, because err came inside
// a frame.
func UnexpectedEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// A FrameReader reads many frames with few reads and without copying. A read that fails with a
// timeout can be repeated. The buffer grows with what has arrived, not with what is announced.
type FrameReader struct {
	src        io.Reader
	limit      int
	buf        []byte
	begin, end int // of what is read and not yet returned
	usual      int // size of buf, unless a frame needs more
}

// A reader begins with the small buffer, and doubles it while reads fill it. A node has two
// channels to each of many others, most of which are idle most of the time.
const (
	smallReadBuffer = 4 << 10
	readBuffer      = 64 << 10
)

// NewFrameReader returns a FrameReader whose frames have bodies of at most limit bytes.
func NewFrameReader(src io.Reader, limit int) *FrameReader {
	return &FrameReader{src: src, limit: limit, usual: smallReadBuffer}
}

// Shrink notes that nothing has arrived for a while, so a large buffer is not needed.
func (f *FrameReader) Shrink() { f.usual = smallReadBuffer }

// Buffered returns the body of the next frame if all of it has been read. It is valid until the
// next Fill. Otherwise missing is how many bytes the frame needs.
func (f *FrameReader) Buffered() (body []byte, missing int, err error) {
	unread := f.buf[f.begin:f.end]
	if len(unread) < HeaderSize {
		return nil, HeaderSize, nil
	}
	size, err := bodySize(unread, f.limit)
	if err != nil {
		return nil, 0, err
	}
	if len(unread) < HeaderSize+size {
		return nil, HeaderSize + size, nil
	}
	f.begin += HeaderSize + size
	return unread[HeaderSize : HeaderSize+size], 0, nil
}

// Fill reads what is available of a frame of that size, and of the frames after it.
func (f *FrameReader) Fill(size int) error {
	if f.begin == f.end || f.end == len(f.buf) {
		f.makeRoom(min(size, max(smallReadBuffer, 2*(f.end-f.begin))))
	}
	count, err := f.src.Read(f.buf[f.end:])
	f.end += count
	if f.end == len(f.buf) {
		f.usual = min(2*f.usual, readBuffer)
	}
	if count > 0 {
		return nil
	}
	if f.begin < f.end {
		return UnexpectedEOF(err)
	}
	return err
}

// The beginning of the frame is unread in the buffer. An empty buffer that is larger than usual is
// freed.
func (f *FrameReader) makeRoom(size int) {
	unread := f.buf[f.begin:f.end]
	to := f.buf
	usual := max(size, f.usual)
	switch {
	case usual > len(to), usual < len(to) && len(unread) == 0:
		to = make([]byte, usual)
	case len(unread) > 0 && f.begin+size <= len(to):
		return
	}
	f.begin, f.end = 0, copy(to, unread)
	f.buf = to
}
