package postgres_test

import (
	"context"
	"fmt"
	"os"

	"github.com/understudy-go/understudy/persistence/journal"
)

type owner struct {
	journal.Journal
	id    string
	claim journal.Claim
}

func own(j journal.Journal, id string) (*owner, error) {
	o := &owner{Journal: j, id: id}
	return o, o.reclaim()
}

func (o *owner) reclaim() (err error) {
	o.claim, err = o.Claim(context.Background(), o.id, journal.WriterID{byte(os.Getpid())}, journal.Bounds{})
	return err
}

func (o *owner) next() journal.AppendRequest {
	req := some(o.id, o.claim.Epoch, o.claim.LastSeq, 1)
	req.Records[0].Payload = fmt.Appendf(nil, "%d of %d", req.Records[0].Seq, os.Getpid())
	return req
}

func some(id string, epoch, prev uint64, n int) journal.AppendRequest {
	req := journal.AppendRequest{ID: id, Epoch: epoch, Prev: prev}
	for i := range uint64(n) {
		req.Records = append(req.Records, journal.Record{
			Seq: prev + i + 1, Epoch: epoch, Type: "event", Tags: []string{"red", "blue", "red"}, Meta: map[string]string{"k": "v"},
			Payload: fmt.Appendf(nil, "%s %d", id, prev+i+1),
		})
	}
	return req
}
