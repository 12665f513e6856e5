package statuspage

import (
	"fmt"
	"strings"
	"time"

	"github.com/understudy-go/understudy/internal/status"
)

// The reason is the worst one, in one sentence. What ends by itself comes last: a handler may be
// slow because a journal fails.
func stuck(s Snapshot, a Actors) string {
	up := s.Self.Status == "up"
	switch {
	case !up && len(s.Waiting) > 0: // nothing else matters then
		return s.Waiting[0]
	case !up:
		return ""
	case len(a.Circles) > 0:
		return ofCircle(a.Circles[0]) + more(len(a.Circles)-1, "circle")
	case len(s.Waiting) > 0:
		return s.Waiting[0] + more(len(s.Waiting)-1, "reason")
	case s.Leader == "":
		return "The cluster has no leader."
	case len(s.Problems) > 0:
		return s.Problems[0].Text + more(len(s.Problems)-1, "problem")
	case a.isSlow():
		return ofHandler(a) + more(a.Slow-1, "slow handler")
	}
	if behind := ofBacklogs(a.Backlogs); len(behind) > 0 {
		return behind[0].Text + more(len(behind)-1, "backlog")
	}
	return ""
}

func ofBacklogs(all []Backlog) (found []status.Problem) {
	for _, b := range all {
		if b.Why != "" {
			found = append(found, status.Problem{Kind: "backlog", About: b.Actor, Text: b.Why})
		}
	}
	return found
}

func (a Actors) isSlow() bool { return len(a.Handlers) > 0 && a.Handlers[0].Seconds >= 1 }

func (a Actors) problems() []status.Problem {
	all := []status.Problem{}
	for _, paths := range a.Circles {
		all = append(all, status.Problem{Kind: "circle", About: paths[0], Text: ofCircle(paths)})
	}
	if a.isSlow() {
		all = append(all, status.Problem{Kind: "slow handler", About: a.Handlers[0].Path, Text: ofHandler(a) + more(a.Slow-1, "slow handler")})
	}
	return append(all, ofBacklogs(a.Backlogs)...)
}

func ofCircle(paths []string) string {
	if len(paths) == 1 {
		return fmt.Sprintf("An actor waits for itself: a handler of %s asks its own actor.", paths[0])
	}
	var asks []string
	for i, path := range paths {
		asks = append(asks, path+" asks "+paths[(i+1)%len(paths)])
	}
	const most = 5
	if left := len(asks) - most; left > 0 {
		asks = append(asks[:most-1], fmt.Sprintf("%d others ask each other", left), asks[len(asks)-1])
	}
	return fmt.Sprintf("Actors wait for each other: %s.", strings.Join(asks, ", "))
}

func ofHandler(a Actors) string {
	slowest := a.Handlers[0]
	text := fmt.Sprintf("A handler of %s has been under way for %v", slowest.Path, time.Duration(slowest.Seconds*float64(time.Second)).Round(time.Second))
	for _, ask := range a.Asks {
		if ask.Asker == slowest.Path {
			return fmt.Sprintf("%s: it waits for a reply of %s.", text, ask.Asked)
		}
	}
	for _, kind := range a.Kinds {
		if kind.Name == slowest.Kind && kind.Waiting > 0 {
			return fmt.Sprintf("%s; %d messages wait in mailboxes of its kind, %s.", text, kind.Waiting, kind.Name)
		}
	}
	return text + "."
}

func more(n int, of string) string {
	switch {
	case n <= 0:
		return ""
	case n == 1:
		return fmt.Sprintf(" There is another %s.", of)
	}
	return fmt.Sprintf(" There are %d more %ss.", n, of)
}
