package sharding

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/understudy-go/understudy/cluster/sharding/internal/allot"
	"github.com/understudy-go/understudy/internal/status"
)

// section is what the page of a node shows of its types. Only while shards run nowhere it asks the
// coordinator why.
func (h *hub) section() status.Section {
	look := &status.Coordinator[[]allot.Homeless]{Ask: func(ctx context.Context) ([]allot.Homeless, error) { return h.outside.homeless(ctx) }}
	return status.Section{
		Level: status.Homes,
		Refresh: func(ctx context.Context) {
			if h.outside != nil && slices.ContainsFunc(h.statuses(), typeStatus.lacksHomes) {
				look.Refresh(ctx)
			}
		},
		Read: func() (map[string]any, []status.Problem) {
			types, homeless, failure := h.statuses(), []allot.Homeless{}, ""
			if slices.ContainsFunc(types, typeStatus.lacksHomes) {
				var answer *[]allot.Homeless
				if answer, failure = look.Read(); answer != nil {
					homeless = append(homeless, *answer...)
				}
			}
			return map[string]any{"entityTypes": types, "homeless": homeless, "homelessFailure": failure}, problemsOf(types, homeless, failure)
		},
	}
}

func (t typeStatus) lacksHomes() bool { return t.Homeless > 0 && t.Refused == "" }

func problemsOf(types []typeStatus, homeless []allot.Homeless, failure string) (found []status.Problem) {
	add := func(about, format string, args ...any) {
		found = append(found, status.Problem{Kind: "shards", About: about, Text: fmt.Sprintf(format, args...)})
	}
	for _, t := range types {
		if t.Refused != "" {
			add(t.Name, "This node takes no part in the type %s: %s.", t.Name, t.Refused)
		}
		if t.Lease != "" && t.Lease != leaseHeld {
			add(t.Name, "This node hosts nothing of the type %s, because it has no lease: %s.", t.Name, t.Lease)
		}
	}
	if failure != "" {
		add("", "Shards run nowhere, and their coordinator does not answer: %s.", failure)
	}
	for _, h := range homeless {
		add(h.Type, "%s: %s.", runNowhere(h), h.Why)
	}
	return found
}

const mostNumbers = 5

func runNowhere(h allot.Homeless) string {
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
