package rehearsal

import (
	"bufio"
	"encoding/gob"
	"errors"
	"io"
	"os"

	"github.com/understudy-go/understudy/internal/inspect"
)

// A spooled is what one build writes for the other one: the events of an id that it stores
// differently, and then, with Ends, the snapshot of the state.
type spooled struct {
	ID    string
	Seq   uint64
	Now   []inspect.Stored
	Ends  bool
	Saved *inspect.Stored
}

// A spool is a file of such records. Builds of several versions of this package read it, so fields
// are only added. A nil spool keeps nothing.
type spool struct {
	file *os.File
	buf  *bufio.Writer
	enc  *gob.Encoder
}

func newSpool(path string) (*spool, error) {
	if path == "" {
		return nil, nil //nolint:nilnil // a nil spool is one
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600) //nolint:gosec // the path is from the command that started the process
	if err != nil {
		return nil, err
	}
	b := bufio.NewWriterSize(f, 1<<16)
	return &spool{f, b, gob.NewEncoder(b)}, nil
}

func (s *spool) add(r spooled) error {
	if s == nil {
		return nil
	}
	return s.enc.Encode(r)
}

func (s *spool) close() error {
	if s == nil {
		return nil
	}
	return errors.Join(s.buf.Flush(), s.file.Close())
}

// readSpool calls f with what a file has of each id.
func readSpool(path string, f func(id string, w *rewritten) error) (err error) {
	file, err := os.Open(path) //nolint:gosec // the path is from the command that started the process
	if err != nil {
		return err
	}
	defer file.Close()
	dec := gob.NewDecoder(bufio.NewReaderSize(file, 1<<16))
	w := &rewritten{events: map[uint64][]inspect.Stored{}}
	for {
		var s spooled
		switch err := dec.Decode(&s); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		case !s.Ends:
			w.events[s.Seq] = s.Now
			w.shift += int64(len(s.Now)) - 1
			continue
		}
		w.saved, w.seq = s.Saved, s.Seq
		if err := f(s.ID, w); err != nil {
			return err
		}
		w = &rewritten{events: map[uint64][]inspect.Stored{}}
	}
}
