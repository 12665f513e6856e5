package wire

import (
	"bytes"
	"compress/flate"
	"fmt"
	"io"
	"sync"

	"github.com/understudy-go/understudy/remote"

	"github.com/understudy-go/understudy/internal/extension"
)

// Large messages may be compressed by DEFLATE (RFC 1951) at its fastest level. Each message is
// compressed on its own, because each may become a dead letter.

// Each has a megabyte of tables.
var deflaters = sync.Pool{New: func() any {
	w, err := flate.NewWriter(nil, flate.BestSpeed)
	if err != nil {
		panic(err) // the level is one that there is
	}
	return w
}}

// Compress returns p with its data compressed into buf, and the size of the data before. If
// compression does not make the data smaller, Compress returns p as it is, and 0.
func Compress(buf *bytes.Buffer, p extension.Payload) (compressed extension.Payload, size int) {
	w := deflaters.Get().(*flate.Writer)
	defer deflaters.Put(w)
	w.Reset(buf)
	_, _ = w.Write(p.Data) // a buffer takes everything
	_ = w.Close()
	w.Reset(io.Discard) // or it would hold on to buf
	if buf.Len() >= len(p.Data) {
		return p, 0
	}
	return extension.Payload{Type: p.Type, Data: buf.Bytes()}, len(p.Data)
}

var inflaters = sync.Pool{New: func() any { return flate.NewReader(nil) }}

// The inflater must not keep what it has read.
func releaseInflater(r io.ReadCloser) {
	if r.(flate.Resetter).Reset(nothing, nil) == nil {
		inflaters.Put(r)
	}
}

var nothing = bytes.NewReader(nil)

// data must have that size, and limit bounds what is allocated. It fails with [remote.ErrFrame].
func inflate(data []byte, size uint64, limit int) ([]byte, error) {
	if size > uint64(limit) {
		return nil, fmt.Errorf("%w: %w: %d bytes, compressed, the limit is %d", remote.ErrFrame, remote.ErrTooLarge, size, limit)
	}
	r := inflaters.Get().(io.ReadCloser)
	defer releaseInflater(r)
	if err := r.(flate.Resetter).Reset(bytes.NewReader(data), nil); err != nil {
		return nil, err
	}
	var out bytes.Buffer
	count, err := io.Copy(&out, io.LimitReader(r, int64(size)+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("%w: compressed message: %w", remote.ErrFrame, err)
	case uint64(count) != size:
		return nil, fmt.Errorf("%w: compressed message is not of %d bytes", remote.ErrFrame, size)
	}
	return out.Bytes(), nil
}
