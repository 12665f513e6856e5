package jetstream

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/understudy-go/understudy/persistence/journal"
)

const (
	// MaxPayload is the size of the largest payload of a record, in bytes.
	MaxPayload = 16 << 20
	// MaxAppend is the size of the largest append, with everything that is stored for its records.
	MaxAppend = 64 << 20
)

// maxInFlight is how many ids one call of Append writes to at once.
const maxInFlight = 256

// Append implements [journal.Journal]. Each request is a separate message. Messages of different
// ids are in flight together, and each has its own outcome.
func (j *Journal) Append(ctx context.Context, reqs []journal.AppendRequest) []error {
	errs := make([]error, len(reqs))
	defer j.appended()
	write := func(i int) {
		errs[i] = j.call(ctx, "append", reqs[i].ID, func(ctx context.Context) error { return j.append(ctx, &reqs[i]) })
	}
	groups := byID(reqs)
	if len(groups) == 1 {
		for _, i := range groups[0] {
			write(i)
		}
		return errs
	}
	var all sync.WaitGroup
	slots := make(chan struct{}, maxInFlight)
	for _, group := range groups {
		slots <- struct{}{}
		all.Go(func() {
			for _, i := range group {
				write(i)
			}
			<-slots
		})
	}
	all.Wait()
	return errs
}

// byID returns the indexes of reqs, grouped by id and in order.
func byID(reqs []journal.AppendRequest) [][]int {
	var groups [][]int
	of := make(map[string]int, len(reqs))
	for i := range reqs {
		n, known := of[reqs[i].ID]
		if !known {
			n = len(groups)
			of[reqs[i].ID] = n
			groups = append(groups, nil)
		}
		groups[n] = append(groups[n], i)
	}
	return groups
}

func (j *Journal) append(ctx context.Context, req *journal.AppendRequest) error {
	if err := req.Validate(); err != nil {
		return err
	}
	if len(req.Timers) > 0 {
		return fmt.Errorf("%w: a JetStream journal keeps no timers; keep actors that set some in package sqlite or postgres", errors.ErrUnsupported)
	}
	records, err := encodeRequest(req)
	if err != nil {
		return err
	}
	e, release := j.entity(req.ID)
	defer release()
	var chunks []uint64 // uploaded at most once
	_, err = j.change(ctx, req.ID, e, func(ctx context.Context, p *position, fresh bool) (head, []byte, error) {
		if err := p.fence(req.Epoch, fresh); err != nil {
			return head{}, nil, err
		}
		if req.Prev != p.last {
			if !fresh { // the caller may know more than this cache
				return head{}, nil, errLook
			}
			return head{}, nil, j.recognise(ctx, p, req)
		}
		h := p.next(kindRecords)
		h.count = uint64(len(req.Records))
		h.last += h.count
		if len(records) <= j.inline() {
			return h, records, nil
		}
		if chunks == nil {
			if chunks, err = j.upload(ctx, j.subjects.records(req.ID), records); err != nil {
				return head{}, nil, err
			}
		}
		h.chunks, h.large = chunks, chunks[len(chunks)-1]
		return h, nil, nil
	})
	return err
}

func encodeRequest(req *journal.AppendRequest) ([]byte, error) {
	size := 0
	for i := range req.Records {
		n := len(req.Records[i].Payload)
		if n > MaxPayload {
			return nil, fmt.Errorf("%w: the payload of record %d has %d bytes, more than %d", journal.ErrTooLarge, req.Records[i].Seq, n, MaxPayload)
		}
		size += n
	}
	if size <= MaxAppend {
		if records := encodeRecords(req.ID, req.Records); len(records) <= MaxAppend {
			return records, nil
		}
	}
	return nil, fmt.Errorf("%w: an append of more than %d bytes", journal.ErrTooLarge, MaxAppend)
}

// recognise returns errDone if req is already stored. It is then a retry, because only one writer
// has its epoch.
func (j *Journal) recognise(ctx context.Context, p *position, req *journal.AppendRequest) error {
	last := req.Prev + uint64(len(req.Records))
	conflict := fmt.Errorf("%w: %d to %d after %d", journal.ErrConflict, req.Prev+1, last, p.last)
	if last > p.last || req.Prev < p.deletedTo {
		return conflict
	}
	i := 0
	for stored, err := range j.records(ctx, req.ID, p, req.Prev+1, last) {
		if err != nil {
			return err
		}
		if stored.Checksum(req.ID) != req.Records[i].Checksum(req.ID) {
			return conflict
		}
		i++
	}
	return errDone
}
