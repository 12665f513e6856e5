//go:build linux

package main

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/persistence/sqlite"
)

const (
	// visitPatience is how long a node waits for the answer of a list.
	visitPatience = 2 * time.Second

	// listsAnswer is how long a list may take to answer in the end, unless a test says so.
	listsAnswer = 15 * time.Second
)

// readLists reads all lists in the settled cluster, after the clients have ended.
func (h *harness) readLists() {
	if h.crowd == nil {
		return
	}
	from := clock()
	silent, slowest := h.crowd.readAll(nodeNames(h.nodes), h.listsAnswer)
	for _, list := range silent {
		h.violate("list %s has not answered within %v in the end", list, h.listsAnswer)
	}
	h.show.text("\n%d lists read in the end in %.1fs, the slowest in %.3fs", h.crowd.lists, (clock() - from).Seconds(), slowest.Seconds())
}

// checkLists finds visits of lists that contradict each other or the journal.
func (h *harness) checkLists(ctx context.Context) error {
	if h.crowd == nil {
		return nil
	}
	from := clock()
	calls := callsOf(h.rec.called())
	journal, err := sqlite.Open(h.database()) //nolint:contextcheck // opening takes no context
	if err != nil {
		return err
	}
	defer journal.Close()
	var sum listSum
	for _, list := range slices.Sorted(maps.Keys(calls)) {
		var stored []Stored
		for r, err := range journal.Read(ctx, listType+"|"+list, 1, math.MaxInt64) {
			if err != nil {
				return err
			}
			event, err := extension.Unpack(nil, extension.Payload{Type: r.Type, Data: r.Payload})
			if err != nil {
				return err
			}
			visited, ok := event.(Visited)
			if !ok {
				return fmt.Errorf("record %d of %s is a %T", r.Seq, list, event)
			}
			stored = append(stored, Stored{Entry: visited.Entry, Seq: r.Seq, Epoch: r.Epoch})
		}
		for _, v := range checkList(calls[list], stored) {
			h.violate("list %s: %s", list, v)
		}
		sum.add(calls[list], stored)
	}
	h.show.text("%v; checked in %.1fs", sum, (clock() - from).Seconds())
	return nil
}

// callsOf returns the visits of each list.
func callsOf(calls []Call) map[string][]Call {
	all := map[string][]Call{}
	for _, c := range calls {
		all[c.List] = append(all[c.List], c)
	}
	return all
}

// A listSum has the figures of lists.
type listSum struct {
	lists, calls, answered, records, claims int
	generations                             map[uint64]bool
	most                                    int // records of one list
	slowest                                 time.Duration
}

func (s *listSum) add(calls []Call, stored []Stored) {
	s.lists++
	s.calls += len(calls)
	for _, c := range calls {
		if c.answered() {
			s.answered++
			s.slowest = max(s.slowest, c.Returned-c.Invoked)
		}
	}
	s.records += len(stored)
	s.most = max(s.most, len(stored))
	epochs := map[uint64]bool{}
	for _, r := range stored {
		epochs[r.Epoch] = true
		if s.generations == nil {
			s.generations = map[uint64]bool{}
		}
		s.generations[r.Epoch>>32] = true
	}
	s.claims += len(epochs)
}

// String returns the figures in words.
func (s listSum) String() string {
	return fmt.Sprintf("%d visits of %d lists: %d answered, %d unknown, the slowest answer after %.2fs; %d events by %d incarnations of %d generations, %d of one list",
		s.calls, s.lists, s.answered, s.calls-s.answered, s.slowest.Seconds(), s.records, s.claims, len(s.generations), s.most)
}
