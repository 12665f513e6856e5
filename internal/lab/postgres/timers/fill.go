package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/understudy-go/understudy/cluster/sharding"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/persistence/journal"
)

const (
	fillers  = 256 // at once
	perAlbum = 100 // timers of an entity whose timers are due much later
)

// fill stores all timers.
func (b *bells) fill(ctx context.Context) error {
	msg, err := extension.Pack(Ring{})
	if err != nil {
		return err
	}
	timer := func(key int, due time.Time) journal.TimerChange {
		return journal.TimerChange{Timer: journal.Timer{Key: fmt.Sprint(key), Due: due, Type: msg.Type, Payload: msg.Data}}
	}
	year := time.Now().AddDate(1, 0, 0)
	if err := b.each(ctx, "far", b.stored/perAlbum, func(int) (all []journal.TimerChange) {
		for k := range perAlbum {
			all = append(all, timer(k, year.Add(time.Duration(k)*time.Second)))
		}
		return all
	}); err != nil {
		return err
	}
	n := b.entities()
	b.first = time.Now().Add(b.lead())
	return b.each(ctx, "near", n, func(i int) (all []journal.TimerChange) {
		for k := i; k < b.timers(); k += n {
			all = append(all, timer(k, b.due(k)))
		}
		return all
	})
}

// due returns when timer k comes due.
func (b *bells) due(k int) time.Time {
	return b.first.Add(time.Duration(k) * time.Second / time.Duration(b.rate))
}

// each claims n ids, and stores the timers of each.
func (b *bells) each(ctx context.Context, name string, n int, of func(i int) []journal.TimerChange) error {
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	var all sync.WaitGroup
	for first := range fillers {
		all.Go(func() {
			for i := first; i < n && ctx.Err() == nil; i += fillers {
				if err := b.set(ctx, sharding.Entity{Type: kind, ID: fmt.Sprint(name, "-", i)}.PersistenceID(), of(i)); err != nil {
					fail(err)
				}
			}
		})
	}
	all.Wait()
	return context.Cause(ctx)
}

func (b *bells) set(ctx context.Context, id string, timers []journal.TimerChange) error {
	claim, err := b.store.Claim(ctx, id, journal.WriterID{}, journal.Bounds{})
	if err != nil {
		return err
	}
	return b.store.Append(ctx, []journal.AppendRequest{{ID: id, Epoch: claim.Epoch, Timers: timers}})[0]
}
