package report

import (
	"cmp"
	"slices"
	"strings"

	"github.com/understudy-go/understudy/cmd/understudy/internal/status"
)

// Events are what nodes have decided and noticed.
type Events struct {
	Events []status.Event `json:"events" jsonschema:"oldest first"`
	Silent []string       `json:"silent" jsonschema:"the URLs that were asked without success, each with the error"`
}

// EventsOf returns the events of several nodes in the order of time. A node that was asked under
// two URLs counts once.
func EventsOf(histories []status.History, silent []string) Events {
	all := Events{Events: []status.Event{}, Silent: list(silent)}
	seen := map[string]bool{}
	for _, h := range histories {
		if seen[h.Node] {
			continue
		}
		seen[h.Node] = true
		for _, e := range slices.Backward(h.Events) {
			all.Events = append(all.Events, e)
		}
	}
	slices.SortStableFunc(all.Events, func(a, b status.Event) int {
		return cmp.Or(a.Last.Compare(b.Last), strings.Compare(a.Node, b.Node))
	})
	return all
}
