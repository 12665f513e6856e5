package failover

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/persistence/journal"
)

// verify lets the clients finish, asks for the final state, and compares it and the journal with
// the acknowledged increments.
func (d *director) verify(ctx context.Context) error {
	if err := d.finishClients(ctx); err != nil {
		return err
	}
	host, ok := d.host()
	if !ok {
		return errors.New("nobody hosts at the end")
	}
	if err := d.running[host].Tell(orderFinal); err != nil {
		return err
	}
	if err := d.until(ctx, "the final state", finishLimit, func() bool { return d.books.final != nil }); err != nil {
		return err
	}
	if err := d.leaveAll(ctx); err != nil {
		return err
	}
	journal, err := d.readJournal(ctx)
	if err != nil {
		return err
	}
	if err := d.books.check(*d.books.final, journal); err != nil {
		return err
	}
	d.sum(len(journal))
	return nil
}

func (d *director) finishClients(ctx context.Context) error {
	for _, p := range d.running {
		if err := p.Tell(orderFinish); err != nil {
			return err
		}
	}
	return d.until(ctx, "the clients to finish", finishLimit, func() bool {
		for _, p := range d.running {
			if !d.books.stopped[p] {
				return false
			}
		}
		return true
	})
}

func (d *director) leaveAll(ctx context.Context) error {
	for _, p := range d.running {
		if err := p.Tell(orderLeave); err != nil {
			return err
		}
	}
	return d.until(ctx, "all nodes to leave", finishLimit, func() bool {
		return !slices.ContainsFunc(d.all, func(p *nodeRun) bool { return !p.Ended() })
	})
}

// readJournal returns the increments in the journal, in order.
func (d *director) readJournal(ctx context.Context) (ids []ID, err error) {
	j, err := d.open(ctx, d.journal)
	if err != nil {
		return nil, err
	}
	defer j.Close()
	claim, err := j.Claim(ctx, d.id, journal.WriterID{}, journal.Bounds{})
	if err != nil {
		return nil, err
	}
	for record, err := range j.Read(ctx, d.id, 1, claim.LastSeq) {
		if err != nil {
			return nil, err
		}
		event, err := extension.Unpack(nil, extension.Payload{Type: record.Type, Data: record.Payload})
		if err != nil {
			return nil, err
		}
		e, ok := event.(Incremented)
		if !ok {
			return nil, fmt.Errorf("event %d is a %T", record.Seq, event)
		}
		ids = append(ids, e.ID)
	}
	return ids, nil
}

// sum prints the figures of all processes.
func (d *director) sum(counted int) {
	d.show.text("\n      process        sent  handled  buffered  dead letters")
	var total stats
	runs := make(map[string]int) // of each node so far
	for _, p := range d.all {
		s := p.figures()
		runs[p.node]++
		d.show.text("      %-3s (run %d) %8d %8d %9d %13d", p.node, runs[p.node], s.Sent, s.Handled, s.Buffered, s.DeadLettered)
		total.Sent += s.Sent
		total.Handled += s.Handled
		total.Buffered += s.Buffered
		total.DeadLettered += s.DeadLettered
	}
	d.show.text("      all         %8d %8d %9d %13d\n", total.Sent, total.Handled, total.Buffered, total.DeadLettered)
	d.show.text("writes of replaced hosts that the journal refused: %d", d.books.fenced)
	d.show.text("%d increments acknowledged, each in the final state exactly once; %d counted in all: ok", len(d.books.acks), counted)
}
