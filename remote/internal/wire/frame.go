package wire

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// A frame is a big-endian length of four bytes and as many bytes.
const HeaderSize = 4

// appendFrame appends body as a frame to buf.
func AppendFrame(buf, body []byte) []byte {
	buf = binary.BigEndian.AppendUint32(buf, uint32(len(body)))
	return append(buf, body...)
}

// putSize writes the length of the frame that begins there, and ends with buf.
func putSize(buf []byte, begin int) []byte {
	binary.BigEndian.PutUint32(buf[begin:], uint32(len(buf)-begin-HeaderSize))
	return buf
}

// readFrame reads one frame and not a byte more. It fails with [ErrTooLarge] before
// it reserves memory for a body beyond limit.
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
		return 0, fmt.Errorf("%w: %w: %d bytes, the limit is %d", ErrFrame, ErrTooLarge, size, limit)
	}
	return int(size), nil
}

// noEOF is err, which came within a frame.
func UnexpectedEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// A frameReader reads many frames with few reads and without copying. A read that fails
// with a timeout can be repeated. Its buffer grows with what has come, not with what is
// announced, as anybody can announce much.
type FrameReader struct {
	src        io.Reader
	limit      int
	buf        []byte
	begin, end int // of what is read and not yet returned
	usual      int // size of buf, but for a frame that needs more
}

// A reader begins with the small buffer, and doubles it while a read fills it. A node has two
// channels to each of many others, most of which are quiet most of the time.
const (
	smallReadBuffer = 4 << 10
	readBuffer      = 64 << 10
)

func NewFrameReader(src io.Reader, limit int) *FrameReader {
	return &FrameReader{src: src, limit: limit, usual: smallReadBuffer}
}

// rest notes that nothing has come for a while: a large buffer is not needed now.
func (f *FrameReader) Shrink() { f.usual = smallReadBuffer }

// buffered returns the next frame's body if all of it has been read. It is valid until
// the next fill. missing is 0 then, and otherwise how much room the frame needs.
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

// fill reads what is there of a frame of that size, and of what follows.
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

// makeRoom makes room for a frame of that size, of which what is unread is the beginning.
// A buffer that is larger than usual is given back when it is empty.
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
