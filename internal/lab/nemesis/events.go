//go:build linux

package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"strings"
	"time"

	"github.com/understudy-go/understudy/cluster"
)

// A Sighting is one event of the cluster as a node has seen it. A member stands for an incarnation.
// By names the nodes that do not hear from it.
type Sighting struct {
	At     time.Duration
	Kind   string // the type of the event: MemberUp, and so on
	Member string // its name; empty is nobody
	ID     string
	Clean  bool     `json:",omitempty"`
	By     []string `json:",omitempty"`
}

// tell writes events into a file, one line for each, when they happen.
func tell(events iter.Seq[cluster.Event], out io.Writer) {
	lines := json.NewEncoder(out)
	for e := range events {
		_ = lines.Encode(sightingOf(e, clock())) // a check that needs it will miss it
	}
}

func sightingOf(e cluster.Event, at time.Duration) Sighting {
	s := Sighting{At: at, Kind: strings.TrimPrefix(fmt.Sprintf("%T", e), "cluster.")}
	var m cluster.Member
	switch e := e.(type) {
	case cluster.MemberJoined:
		m = e.Member
	case cluster.MemberUp:
		m = e.Member
	case cluster.MemberLeaving:
		m = e.Member
	case cluster.MemberExiting:
		m = e.Member
	case cluster.MemberDowned:
		m = e.Member
	case cluster.MemberRemoved:
		m, s.Clean = e.Member, e.Clean
	case cluster.MemberReachable:
		m = e.Member
	case cluster.MembershipLost:
		m = e.Self
	case cluster.LeaderChanged:
		m = e.After
	case cluster.MemberUnreachable:
		m = e.Member
		for _, by := range e.By {
			s.By = append(s.By, by.Name)
		}
	}
	s.Member, s.ID = m.Name, m.ID().String()
	return s
}

// readSightings reads what tell has written. The last line may be torn.
func readSightings(in io.Reader) (seen []Sighting) {
	for lines := bufio.NewScanner(in); lines.Scan(); {
		var s Sighting
		if err := json.Unmarshal(lines.Bytes(), &s); err != nil {
			return seen
		}
		seen = append(seen, s)
	}
	return seen
}
