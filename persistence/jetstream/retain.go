package jetstream

import (
	"cmp"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	js "github.com/nats-io/nats.go/jetstream"

	"github.com/understudy-go/understudy/persistence/journal"
)

// Readers are registered in one message, which has all of them. Each change replaces the message.

// readersVersion is the version of the form of this message.
const readersVersion = 1

// A readerList is that form, in JSON after a checksum. The key "v" stays in every version.
type readerList struct {
	Version int            `json:"v"`
	Readers []storedReader `json:"readers"`
}

type storedReader struct {
	Name   string         `json:"name"`
	From   int            `json:"from"` // the first of its slices
	To     int            `json:"to"`   // the slice after its last one
	Offset journal.Offset `json:"offset"`
	Time   time.Time      `json:"time"`
}

func encodeReaders(readers []storedReader) ([]byte, error) {
	text, err := json.Marshal(readerList{readersVersion, readers})
	return append(binary.LittleEndian.AppendUint32(nil, crc32.Checksum(text, castagnoli)), text...), err
}

func decodeReaders(data []byte) ([]storedReader, error) {
	d := decoder{rest: data}
	sum := d.uint32()
	if d.bad || sum != crc32.Checksum(d.rest, castagnoli) {
		return nil, corrupt("the message with the registered readers does not match its checksum")
	}
	var form struct {
		Version int `json:"v"`
	}
	if err := json.Unmarshal(d.rest, &form); err != nil {
		return nil, corrupt("the message with the registered readers: %v", err)
	}
	if form.Version > readersVersion {
		return nil, fmt.Errorf("%w: the registered readers have version %d, this program knows %d; use a newer build of the program", ErrNewerSchema, form.Version, readersVersion)
	}
	var list readerList
	if err := json.Unmarshal(d.rest, &list); err != nil || form.Version < 1 {
		return nil, corrupt("the message with the registered readers has another form: %v", err)
	}
	return list.Readers, nil
}

// A registry is the message with the registered readers, and its number; 0 if it does not exist.
type registry struct {
	readers []storedReader
	at      uint64
}

func registryOf(m message, err error) (registry, error) {
	if errors.Is(err, errMissing) {
		return registry{}, nil
	}
	if err != nil {
		return registry{}, err
	}
	readers, err := decodeReaders(m.data)
	return registry{readers, m.at}, err
}

func loadRegistry(ctx context.Context, j *Journal) (registry, error) {
	return registryOf(j.askLeader(ctx, j.large, leaderRequest{LastFor: j.subjects.readers()}))
}

// askReaders requests the registered readers, so that a deletion does not wait for them.
func askReaders(j *Journal) asked {
	q, err := sendLeader(j, j.large, leaderRequest{LastFor: j.subjects.readers()})
	return asked{q, err}
}

// gotReaders waits for the answer to a, and asks again if nobody answers.
func gotReaders(ctx context.Context, j *Journal, a asked) ([]storedReader, error) {
	if a.err == nil {
		m, err := answered(ctx, a.q, readPatience)
		if err == nil || errors.Is(err, errMissing) {
			r, err := registryOf(m, err)
			return r.readers, err
		}
	}
	r, err := loadRegistry(ctx, j)
	return r.readers, err
}

// changeReaders replaces the registered readers with what change makes of them.
func changeReaders(ctx context.Context, j *Journal, change func([]storedReader) []storedReader) error {
	subject := j.subjects.readers()
	for n := 1; ; n++ {
		r, err := loadRegistry(ctx, j)
		if err != nil {
			return err
		}
		data, err := encodeReaders(change(r.readers))
		if err != nil {
			return err
		}
		at, err := j.send(ctx, j.large, subject, data, nats.Header{
			js.ExpectedStreamHeader: {j.large}, js.ExpectedLastSubjSeqHeader: {strconv.FormatUint(r.at, 10)},
		})
		if err == nil {
			_ = j.purge(ctx, j.large, subject, at) // the next change removes the rest
			return nil
		}
		if !errors.Is(err, errStale) {
			return err
		}
		if n == maxRefusals {
			return fmt.Errorf("%w: the readers are changed all the time", journal.ErrUnavailable)
		}
		if err := backOff(ctx, n); err != nil {
			return unavailable(ctx, err)
		}
	}
}

// SaveReader implements [journal.Retainer].
func (j *Journal) SaveReader(ctx context.Context, r journal.Reader) error {
	return j.call(ctx, "save reader", r.Name, func(ctx context.Context) error {
		_, err := j.parseOffset(r.Offset)
		if err == nil {
			err = r.Validate()
		}
		if err != nil {
			return err
		}
		stored := storedReader{Name: r.Name, Offset: r.Offset, Time: r.Time.UTC()}
		stored.From, stored.To = r.Bounds()
		return changeReaders(ctx, j, func(all []storedReader) []storedReader {
			i, found := slices.BinarySearchFunc(all, r.Name, byName)
			if found {
				all[i] = stored
				return all
			}
			return slices.Insert(all, i, stored)
		})
	})
}

func byName(r storedReader, name string) int { return strings.Compare(r.Name, name) }

// RemoveReader implements [journal.Retainer].
func (j *Journal) RemoveReader(ctx context.Context, name string) error {
	return j.call(ctx, "remove reader", name, func(ctx context.Context) error {
		return changeReaders(ctx, j, func(all []storedReader) []storedReader {
			return slices.DeleteFunc(all, func(r storedReader) bool { return r.Name == name })
		})
	})
}

// Readers implements [journal.Retainer].
func (j *Journal) Readers(ctx context.Context) (all []journal.Reader, err error) {
	err = looking(ctx, j, "list readers", func(ctx context.Context) error {
		r, err := loadRegistry(ctx, j)
		for _, stored := range r.readers {
			reader := journal.Reader{Name: stored.Name, Slices: journal.SliceRange{From: stored.From, To: stored.To}, Offset: stored.Offset, Time: stored.Time}
			if reader.Slices == (journal.SliceRange{To: journal.Slices}) {
				reader.Slices = journal.SliceRange{}
			}
			all = append(all, reader)
		}
		return err
	})
	return all, err
}

// End implements [journal.Retainer].
func (j *Journal) End(ctx context.Context) (end journal.Offset, err error) {
	err = looking(ctx, j, "find the end", func(ctx context.Context) error {
		state, err := j.state(ctx)
		if err != nil || state.Last == 0 {
			return err
		}
		end = j.formatOffset(offset{at: state.Last, next: math.MaxInt64})
		for {
			ended := j.ended.Load()
			if ended >= state.Last || j.ended.CompareAndSwap(ended, state.Last) {
				return nil
			}
		}
	})
	return end, err
}

// Head implements [journal.Retainer].
func (j *Journal) Head(ctx context.Context, id string) (claim journal.Claim, err error) {
	err = j.call(ctx, "look at", id, func(ctx context.Context) error {
		p, err := j.positionOnce(ctx, id)
		switch {
		case err != nil:
			return err
		case p.forgotten():
			return journal.ErrForgotten
		}
		claim = journal.Claim{Epoch: p.epoch, LastSeq: p.last, DeletedTo: p.deletedTo}
		return nil
	})
	return claim, err
}

// looking runs f as a call that changes nothing.
func looking(ctx context.Context, j *Journal, op string, f func(context.Context) error) error {
	ctx, end, err := j.begin(ctx)
	if err == nil {
		defer end()
		err = ended(ctx, f(ctx))
	}
	if err != nil {
		return fmt.Errorf("%s: %w", op, err)
	}
	return nil
}

// A deletion is a call of DeleteTo.
type deletion struct {
	j      *Journal
	id     string
	seq    uint64 // the last record that is to be deleted
	asked  asked  // for the registered readers; zero if they do not matter
	known  bool   // readers is the answer
	unread *journal.UnreadError

	readers []storedReader // of the slice of the id
}

// bound returns up to which record p is to be deleted.
func (d *deletion) bound(ctx context.Context, p *position) (to uint64, err error) {
	to = min(d.seq, p.last)
	if d.unread = nil; to <= p.deletedTo || d.asked == (asked{}) {
		return to, nil
	}
	if !d.known {
		all, err := gotReaders(ctx, d.j, d.asked)
		if err != nil {
			return 0, notStored(ctx, err)
		}
		slice := journal.SliceOf(d.id)
		d.readers = slices.DeleteFunc(all, func(r storedReader) bool { return slice < r.From || slice >= r.To })
		d.known = true
	}
	var places []place
	for i := range d.readers {
		at, err := d.j.parseOffset(d.readers[i].Offset)
		switch {
		case err != nil:
			return 0, corrupt("the reader %q: %v", d.readers[i].Name, err)
		case at.at > p.at || at.at == p.at && at.next >= p.count && at.next > 0:
			continue
		}
		if places == nil {
			if places, err = d.j.walk(ctx, d.id, p, p.deletedTo+1); err != nil {
				return 0, err
			}
		}
		if first, some := firstUnread(places, at); some && first <= to {
			first = max(first, p.deletedTo+1)
			to, d.unread = first-1, &journal.UnreadError{Reader: d.readers[i].Name, To: first - 1}
		}
	}
	return to, nil
}

// firstUnread returns the first record that a reader at an offset has not read.
func firstUnread(places []place, read offset) (seq uint64, some bool) {
	i, found := slices.BinarySearchFunc(places, read.at, func(p place, at uint64) int { return cmp.Compare(p.at, at) })
	if found {
		if p := places[i]; read.next <= p.last-p.first {
			return p.first + read.next, true
		}
		i++
	}
	if i == len(places) {
		return 0, false
	}
	return places[i].first, true
}
