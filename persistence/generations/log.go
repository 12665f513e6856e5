package generations

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/understudy-go/understudy/internal/codec"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/persistence/journal"
)

// logID is the persistence id of the log.
const logID = "singleton/generations"

// rereads is how many times a read is repeated when records are deleted meanwhile.
const rereads = 3

// A log stores entries in a journal. Its ledger is never older than the answers it has given.
//
// Before a source adds entries, it claims the log and reads everything stored before its claim. The
// journal rejects an append if another source has claimed the log since. Each append is therefore
// based on the newest content, so no term is claimed twice.
type log struct {
	journal      journal.Journal
	writer       journal.WriterID
	compactAfter uint64 // records beyond two for each label before the log is shortened

	ledger    ledger
	epoch     uint64 // of the claim; 0 if another source may have claimed since
	last      uint64 // the number of the last record in the ledger
	deletedTo uint64 // at the time of the claim
}

// claim takes the right to add to the log, and reads the entries that others have added. It calls
// seen with each record read.
func (l *log) claim(ctx context.Context, seen func(journal.Record)) error {
	l.epoch = 0
	c, err := l.journal.Claim(ctx, logID, l.writer, journal.Bounds{})
	if err != nil {
		return err
	}
	if err := l.catchUp(ctx, c.LastSeq, seen); err != nil {
		return err
	}
	l.epoch, l.last, l.deletedTo = c.Epoch, c.LastSeq, c.DeletedTo
	return nil
}

// catchUp reads the entries that others have added. The records may have a gap where records were
// deleted. If a deleted entry is still current, a copy of it comes later in the log.
func (l *log) catchUp(ctx context.Context, to uint64, seen func(journal.Record)) (err error) {
	for range rereads {
		if err = l.read(ctx, to, seen); !errors.Is(err, journal.ErrUnavailable) {
			break
		}
	}
	return err
}

func (l *log) read(ctx context.Context, to uint64, seen func(journal.Record)) error {
	if to <= l.last {
		return nil
	}
	for r, err := range l.journal.Read(ctx, logID, l.last+1, to) {
		if err != nil {
			return err
		}
		e, err := decode(r)
		if err != nil {
			return err
		}
		l.ledger.fold(r.Seq, e)
		l.last = r.Seq
		seen(r)
	}
	return nil
}

func decode(r journal.Record) (entry, error) {
	v, err := extension.Unpack(nil, extension.Payload{Type: r.Type, Data: r.Payload})
	if _, unknown := errors.AsType[*codec.UnknownNameError](err); unknown {
		return entry{}, fmt.Errorf("record %d of %s: %w", r.Seq, logID, err) // another version of the program has stored it
	}
	if err != nil {
		return entry{}, fmt.Errorf("%w: record %d of %s: %w", journal.ErrCorrupt, r.Seq, logID, err)
	}
	e, ok := v.(entry)
	if !ok {
		return entry{}, fmt.Errorf("%w: record %d of %s is a %s: nothing else may use this id", journal.ErrCorrupt, r.Seq, logID, r.Type)
	}
	return e, nil
}

// add stores all entries or none, and reports which. If it returns false without an error,
// another source has claimed the log.
func (l *log) add(ctx context.Context, entries []entry) (stored bool, err error) {
	req, err := l.request(entries)
	if err != nil {
		return false, err
	}
	err = l.journal.Append(ctx, []journal.AppendRequest{req})[0]
	switch {
	case err == nil:
		for i, e := range entries {
			l.ledger.fold(req.Records[i].Seq, e)
		}
		l.last += uint64(len(entries))
		return true, nil
	case errors.Is(err, journal.ErrFenced):
		l.epoch = 0
		return false, nil
	case errors.Is(err, journal.ErrUnknown):
		return l.look(ctx, req, err)
	case errors.Is(err, journal.ErrConflict):
		l.epoch = 0 // the next claim reads what is there
	}
	return false, err
}

func (l *log) request(entries []entry) (journal.AppendRequest, error) {
	req := journal.AppendRequest{ID: logID, Epoch: l.epoch, Prev: l.last}
	for i, e := range entries {
		p, err := extension.Pack(e)
		if err != nil {
			return req, err
		}
		req.Records = append(req.Records, journal.Record{
			Seq: l.last + uint64(i) + 1, Epoch: l.epoch, Writer: l.writer, Time: time.Now().UTC(), Type: p.Type, Payload: p.Data,
		})
	}
	return req, nil
}

// look finds out whether a request whose answer was lost has been stored. It claims the log first:
// a request that is not stored before the claim can never be stored.
func (l *log) look(ctx context.Context, req journal.AppendRequest, lost error) (stored bool, err error) {
	first := req.Records[0].Seq
	err = l.claim(ctx, func(r journal.Record) {
		stored = stored || r.Seq == first && r.Epoch == req.Epoch && r.Writer == req.Records[0].Writer
	})
	switch {
	case err != nil:
		return false, fmt.Errorf("%w; looking whether it was stored: %w", lost, err)
	case !stored && l.deletedTo >= first:
		return false, fmt.Errorf("%w; what was stored there has been deleted since", lost)
	}
	return stored, nil
}
