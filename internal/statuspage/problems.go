package statuspage

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/understudy-go/understudy/internal/placementstatus"
	"github.com/understudy-go/understudy/internal/shardstatus"
	"github.com/understudy-go/understudy/internal/storestatus"
)

// A Problem is why something does not move, beside what [Snapshot.Waiting] says.
type Problem struct {
	Kind  string `json:"kind"`  // link, journal, projection, placement, shards or schedule; of actors: circle, slow handler or backlog
	About string `json:"about"` // the member, journal, projection, label, type or path; "" for a coordinator
	Text  string `json:"text"`  // in sentences
}

// Of one kind. A further one counts the others.
const mostProblems = 20

// The causes of others come first. The texts have no numbers that never rest, because they are in
// the stream of events.
func (d Details) problems() []Problem {
	all := []Problem{}
	for _, kind := range [][]Problem{ofLinks(d.Links), ofJournals(d.Journals), ofProjections(d.Projections), d.ofPlacement(), d.ofShards(), d.ofSchedules()} {
		if left := len(kind) - mostProblems; left > 0 {
			kind = append(kind[:mostProblems:mostProblems], Problem{Kind: kind[0].Kind, Text: fmt.Sprintf("There are %d more problems of this kind.", left)})
		}
		all = append(all, kind...)
	}
	return all
}

// The links are to members. Other peers, such as clients, may go away without a problem.
func ofLinks(links []Link) []Problem {
	var found []Problem
	add := func(l Link, format string, args ...any) {
		found = append(found, Problem{Kind: "link", About: l.Name, Text: fmt.Sprintf(format, args...)})
	}
	for _, l := range links {
		switch {
		case l.Name == "":
		case l.State == LinkRefused:
			add(l, "This node and %s refuse each other: %s.", l.Name, l.LastError)
		case l.State == LinkFailing:
			add(l, "Messages to %s wait, because this node cannot connect to it: %s.", l.Name, cmp.Or(l.LastError, "the reason is unknown"))
		case l.Full:
			add(l, "The queue of messages to %s is full: their senders wait, or the messages are dropped.", l.Name)
		}
	}
	return found
}

func ofJournals(journals []storestatus.Journal) []Problem {
	var found []Problem
	for _, j := range journals {
		for _, c := range []struct {
			what string
			storestatus.Calls
		}{{"Appends to", j.Appends}, {"Claims of ids in", j.Claims}, {"Reads of", j.Reads}} {
			if c.InARow > 0 {
				found = append(found, Problem{Kind: "journal", About: j.Name, Text: fmt.Sprintf("%s the journal %s fail: %s.", c.what, j.Name, c.Failure)})
			}
		}
	}
	return found
}

func ofProjections(projections []storestatus.Projection) []Problem {
	var found []Problem
	for _, p := range projections {
		does := "fails"
		if p.Stalled == 0 {
			does = "holds events back"
		}
		if p.Stalled+p.Held > 0 {
			found = append(found, Problem{Kind: "projection", About: p.Name, Text: fmt.Sprintf("The projection %s %s: %s.", p.Name, does, p.Failure)})
		}
	}
	return found
}

func (d Details) ofPlacement() []Problem {
	if d.PlacementFailure != "" {
		return []Problem{{Kind: "placement", Text: "The coordinator of placement does not answer: " + d.PlacementFailure + "."}}
	}
	if d.Placement == nil {
		return nil
	}
	var found []Problem
	for _, a := range d.Placement.Actors {
		if a.Trouble {
			found = append(found, Problem{Kind: "placement", About: a.Label, Text: ofPlaced(a)})
		}
	}
	return found
}

func ofPlaced(a placementstatus.Actor) string {
	why := cmp.Or(a.Why, "the reason is unknown")
	switch {
	case a.Running:
		return fmt.Sprintf("%s cannot leave %s, whose actors are to be moved away: %s.", a.Label, a.Node, why)
	case a.Node == "":
		return fmt.Sprintf("%s is not placed: %s.", a.Label, why)
	}
	return fmt.Sprintf("%s does not run: %s.", a.Label, why)
}

func (d Details) ofSchedules() []Problem {
	var found []Problem
	for _, s := range d.Schedules {
		for _, e := range s.Entries {
			switch about := s.Name + "/" + e.Name; {
			case e.Problem != "":
				found = append(found, Problem{Kind: "schedule", About: about, Text: fmt.Sprintf("The entry %s has no runs: %s.", about, e.Problem)})
			case e.Last != nil && e.Last.Error != "":
				found = append(found, Problem{Kind: "schedule", About: about, Text: fmt.Sprintf("The last run of the entry %s has failed: %s.", about, e.Last.Error)})
			}
		}
	}
	return found
}

func (d Details) ofShards() []Problem {
	var found []Problem
	for _, t := range d.EntityTypes {
		if t.Refused != "" {
			found = append(found, Problem{Kind: "shards", About: t.Name, Text: fmt.Sprintf("This node takes no part in the type %s: %s.", t.Name, t.Refused)})
		}
		if t.Lease != "" && t.Lease != shardstatus.LeaseHeld {
			found = append(found, Problem{Kind: "shards", About: t.Name, Text: fmt.Sprintf("This node hosts nothing of the type %s, because it has no lease: %s.", t.Name, t.Lease)})
		}
	}
	if d.HomelessFailure != "" {
		found = append(found, Problem{Kind: "shards", Text: "Shards run nowhere, and their coordinator does not answer: " + d.HomelessFailure + "."})
	}
	for _, h := range d.Homeless {
		found = append(found, Problem{Kind: "shards", About: h.Type, Text: fmt.Sprintf("%s: %s.", runNowhere(h), h.Why)})
	}
	return found
}

const mostNumbers = 5

func runNowhere(h shardstatus.Homeless) string {
	if len(h.Shards) == 1 {
		return fmt.Sprintf("Shard %d of %s runs nowhere", h.Shards[0], h.Type)
	}
	var some []string
	for _, n := range h.Shards[:min(len(h.Shards), mostNumbers)] {
		some = append(some, strconv.Itoa(n))
	}
	if len(h.Shards) > mostNumbers {
		some = append(some, "…")
	}
	return fmt.Sprintf("%d shards of %s run nowhere (%s)", len(h.Shards), h.Type, strings.Join(some, ", "))
}
