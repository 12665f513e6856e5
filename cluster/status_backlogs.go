package cluster

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/understudy-go/understudy/internal/actorhook"
	"github.com/understudy-go/understudy/internal/statuspage"
)

func shownBacklogs(v View, cluster string, all []nodeBacklog) []statuspage.Backlog {
	shown := []statuspage.Backlog{}
	for _, b := range all {
		node := memberAt(v, b.Address)
		switch {
		case node != "":
		case b.ID == v.Self.ID():
			node = v.Self.Name
		default:
			continue // it has gone since it told this
		}
		one := statuspage.Backlog{
			Node: node, Actor: "understudy://" + cluster + "@" + b.Address + b.Path, Kind: b.Kind,
			Waiting: b.Waiting, OldestSeconds: b.Oldest.Seconds(), AskSeconds: b.Within.Seconds(), Dropped: b.Dropped,
		}
		if one.Dropped == nil {
			one.Dropped = map[string]uint64{}
		}
		one.Why = whyBehind(b.ActorBacklog, one.Node)
		shown = append(shown, one)
	}
	return shown
}

// whyBehind says which limit an actor exceeds, in sentences, or "" if it exceeds none.
func whyBehind(b actorhook.ActorBacklog, node string) string {
	var said []string
	say := func(format string, args ...any) { said = append(said, fmt.Sprintf(format, args...)) }
	if b.Waiting >= actorhook.BacklogLimit {
		say("%d messages wait for it, and the limit is %d.", b.Waiting, actorhook.BacklogLimit)
	}
	if limit := b.AgeLimit(); b.Oldest >= limit {
		say("Its oldest request has waited or been handled for %v of the %v that its ask has, and the limit is %v.",
			b.Oldest.Round(time.Millisecond), b.Within.Round(time.Millisecond), limit.Round(time.Millisecond))
	}
	if b.Dropping {
		say("It dropped a message %v ago; all that it dropped are %s.", b.SinceDropped.Round(time.Millisecond), inWords(b.Dropped))
	}
	if len(said) == 0 {
		return ""
	}
	return fmt.Sprintf("The actor %s on %s is behind. %s", b.Path, node, strings.Join(said, " "))
}

func inWords(dropped map[string]uint64) string {
	var all []string
	for _, reason := range slices.Sorted(maps.Keys(dropped)) {
		all = append(all, fmt.Sprintf("%d by %q", dropped[reason], reason))
	}
	return strings.Join(all, ", ")
}
