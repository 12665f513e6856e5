package journal

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
)

// An entity has the data of one persistence id. The nil entity is an id that was never claimed.
type entity struct {
	epoch, lastSeq, deletedTo uint64
	records                   []Record   // deletedTo+1 to lastSeq; its elements never change
	snapshots                 []Snapshot // ascending by Seq
	timers                    map[string]Timer
}

func (e *entity) fence(epoch uint64) error {
	if e == nil {
		return &FencedError{Epoch: epoch}
	}
	if epoch != e.epoch {
		return &FencedError{Epoch: epoch, Newest: e.epoch}
	}
	return nil
}

func (e *entity) append(req *AppendRequest, log *log) error {
	if err := e.fence(req.Epoch); err != nil {
		return err
	}
	if req.Prev != e.lastSeq {
		return e.recognise(req)
	}
	for i := range req.Records {
		r := clone(&req.Records[i])
		e.records = append(e.records, r)
		log.add(req.ID, r)
	}
	e.lastSeq += uint64(len(req.Records))
	e.changeTimers(req.Timers)
	return nil
}

// recognise returns nil if req is already stored. It is then a repeated request, because only one
// writer has its epoch.
func (e *entity) recognise(req *AppendRequest) error {
	last := req.Prev + uint64(len(req.Records))
	stored := e.slice(req.Prev+1, last)
	same := slices.EqualFunc(stored, req.Records, func(a, b Record) bool {
		return a.Checksum(req.ID) == b.Checksum(req.ID)
	})
	if !same || len(req.Records) == 0 {
		return fmt.Errorf("%w: %d to %d after %d", ErrConflict, req.Prev+1, last, e.lastSeq)
	}
	return nil
}

func (e *entity) slice(from, to uint64) []Record {
	if e == nil {
		return nil
	}
	from, to = max(from, e.deletedTo+1), min(to, e.lastSeq)
	if from > to {
		return nil
	}
	return e.records[from-e.deletedTo-1 : to-e.deletedTo]
}

func (e *entity) deleteTo(epoch, seq uint64) (n int, err error) {
	if err := e.fence(epoch); err != nil {
		return 0, err
	}
	seq = min(seq, e.lastSeq)
	if seq > e.deletedTo {
		n = int(seq - e.deletedTo)
		e.records = slices.Clone(e.records[n:])
		e.deletedTo = seq
	}
	return n, nil
}

func clone(r *Record) Record {
	c := *r
	c.Time = r.Time.Round(0).UTC()
	c.Tags = slices.Clone(r.Tags)
	c.Meta = maps.Clone(r.Meta)
	c.Payload = bytes.Clone(r.Payload)
	return c
}
