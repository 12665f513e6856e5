package projection

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/internal/status"
)

// shown is what the status page shows of a projection. The JSON names are a stable interface;
// docs/status.md describes them.
type shown struct {
	Name     string  `json:"name"`
	Lag      float64 `json:"lagSeconds"` // 0 when it has caught up
	Events   uint64  `json:"events"`     // handled since it started
	Skipped  uint64  `json:"skipped"`    // events
	Failures uint64  `json:"failures"`
	Stalled  int     `json:"stalled"` // workers that have failed, and have not caught up since
	Held     int     `json:"held"`    // persistence ids whose events it holds back
	Failure  string  `json:"failure"` // why it is stalled, or holds something back; or ""
}

// running are the projections that run on a node.
type running struct {
	mu  sync.Mutex // guards all
	all map[*func() shown]struct{}
}

func runningOn(s *actor.System) *running {
	return extension.Ensure(s, func() *running {
		r := &running{all: map[*func() shown]struct{}{}}
		status.AddSection(s, status.Section{Level: status.StoreReaders, Read: r.section})
		return r
	})
}

func (r *running) add(read func() shown) (remove func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all[&read] = struct{}{}
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		delete(r.all, &read)
	}
}

// section is the Read of a [status.Section].
func (r *running) section() (map[string]any, []status.Problem) {
	r.mu.Lock()
	defer r.mu.Unlock()
	all, problems := []shown{}, []status.Problem(nil)
	for read := range r.all {
		all = append(all, (*read)())
	}
	slices.SortFunc(all, func(a, b shown) int { return strings.Compare(a.Name, b.Name) })
	for _, p := range all {
		does := "fails"
		if p.Stalled == 0 {
			does = "holds events back"
		}
		if p.Stalled+p.Held > 0 {
			problems = append(problems, status.Problem{Kind: "projection", About: p.Name, Text: fmt.Sprintf("The projection %s %s: %s.", p.Name, does, p.Failure)})
		}
	}
	return map[string]any{"projections": all}, problems
}
