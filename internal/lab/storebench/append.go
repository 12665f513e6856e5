package storebench

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/persistence/journal"
)

// perTurn is how many events each writer appends in a turn, unless there are very many writers.
const perTurn = 20

// eventsPerTurn leaves ten events for each of 10,000 writers. With two each, half of a turn was its
// begin and its end: the writers came in the order of their ids, as they do only at the begin.
const eventsPerTurn = 100_000

// Payload is the payload of each event: 100 bytes.
var Payload = fmt.Appendf(nil, "%0100d", 0)

// Writers append one event at a time, each to its own id.
type Writers []func() error

func (w Writers) each() int { return max(1, min(perTurn, eventsPerTurn/len(w))) }

func (w Writers) turn() error {
	errs := make(chan error, len(w))
	var all sync.WaitGroup
	for _, next := range w {
		all.Go(func() {
			for range w.each() {
				if err := next(); err != nil {
					errs <- err
					return
				}
			}
		})
	}
	all.Wait()
	select {
	case err := <-errs:
		return err
	default:
		return nil
	}
}

// Append compares contenders, which all have the same number of writers.
func Append(b *testing.B, contenders ...Writers) *Turns {
	turns := make([]func() error, len(contenders))
	for i, c := range contenders {
		turns[i] = c.turn
	}
	return TakeTurns(b, len(contenders[0])*contenders[0].each(), turns...)
}

// GroupCommit reports how many times as many events 64 writers append as one writer.
func GroupCommit(b *testing.B, open func() journal.Journal) {
	const many = 64
	one, all := JournalWriters(b, open(), 1), JournalWriters(b, open(), many)
	t := TakeTurns(b, perTurn, one.turn, all.turn)
	b.ReportMetric(t.Rate(0), "1-writer/s")
	b.ReportMetric(many*t.Rate(1), "64-writers/s")
	b.ReportMetric(many*t.Ratio(0, 1), "times")
}

// JournalWriters returns writers that append to a journal.
func JournalWriters(b *testing.B, j journal.Journal, n int) Writers {
	w := make(Writers, n)
	for i := range w {
		id := ID(i)
		claim, err := j.Claim(b.Context(), id, journal.WriterID{}, journal.Bounds{})
		require.NoError(b, err)
		w[i] = func() error {
			claim.LastSeq++
			return j.Append(b.Context(), []journal.AppendRequest{{
				ID: id, Epoch: claim.Epoch, Prev: claim.LastSeq - 1, Records: []journal.Record{record(claim.Epoch, claim.LastSeq)},
			}})[0]
		}
	}
	return w
}

// ID returns the persistence id of a writer.
func ID(writer int) string { return fmt.Sprint("id-", writer) }

func record(epoch, seq uint64) journal.Record {
	return journal.Record{Seq: seq, Epoch: epoch, Time: time.Unix(1_800_000_000, 0), Type: "event", Payload: Payload}
}

// An Event is the next event of a writer.
type Event struct {
	Writer int
	Seq    uint64
}

// RawWriters returns writers that commit by calling commit with all events that have queued up
// meanwhile.
func RawWriters(b *testing.B, n int, commit func([]Event) error) Writers {
	type request struct {
		Event
		done chan error
	}
	queue, ended := make(chan request, n), make(chan struct{})
	go func() {
		defer close(ended)
		for first := range queue {
			group, events := []request{first}, []Event{first.Event}
			for len(queue) > 0 {
				next := <-queue
				group, events = append(group, next), append(events, next.Event)
			}
			err := commit(events)
			for _, r := range group {
				r.done <- err
			}
		}
	}()
	b.Cleanup(func() {
		close(queue)
		<-ended
	})
	w := make(Writers, n)
	for i := range w {
		r := request{Event{Writer: i}, make(chan error, 1)}
		w[i] = func() error {
			r.Seq++
			queue <- r
			return <-r.done
		}
	}
	return w
}
