package statuspage

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/understudy-go/understudy/internal/shardstatus"
)

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
