//go:build linux

package main

import (
	"bufio"
	"encoding/json"
	"io"
	"iter"
	"reflect"
	"time"

	"github.com/understudy-go/understudy/cluster"
)

// An ObservedEvent is one event of the cluster as a node has seen it. A member stands for an
// incarnation. By names the nodes that do not hear from it.
type ObservedEvent struct {
	At     time.Duration
	Kind   string // the type of the event: MemberUp, and so on
	Member string // its name; empty is nobody
	ID     string
	Clean  bool     `json:",omitempty"`
	By     []string `json:",omitempty"`
}

// writeEvents writes events into a file, one line for each, when they happen.
func writeEvents(events iter.Seq[cluster.Event], out io.Writer) {
	lines := json.NewEncoder(out)
	for e := range events {
		_ = lines.Encode(observed(e, clock())) // a check that needs it will miss it
	}
}

func observed(e cluster.Event, at time.Duration) ObservedEvent {
	s := ObservedEvent{At: at, Kind: reflect.TypeOf(e).Name()}
	var m cluster.Member
	if field := reflect.ValueOf(e).FieldByName("Member"); field.IsValid() {
		m = field.Interface().(cluster.Member)
	}
	switch e := e.(type) {
	case cluster.MemberRemoved:
		s.Clean = e.Clean
	case cluster.MembershipLost:
		m = e.Self
	case cluster.LeaderChanged:
		m = e.After
	case cluster.MemberUnreachable:
		for _, by := range e.By {
			s.By = append(s.By, by.Name)
		}
	}
	s.Member, s.ID = m.Name, m.ID().String()
	return s
}

// readEvents reads what writeEvents has written. The last line may be torn.
func readEvents(in io.Reader) (seen []ObservedEvent) {
	for lines := bufio.NewScanner(in); lines.Scan(); {
		var s ObservedEvent
		if err := json.Unmarshal(lines.Bytes(), &s); err != nil {
			return seen
		}
		seen = append(seen, s)
	}
	return seen
}
