package placement

import (
	"slices"
	"strings"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/actor/extension"
)

// maxPart is about how many bytes go into one message of what goes into several.
const maxPart = 512 << 10

// partBytes is maxPart, or what messages between nodes leave room for.
func partBytes(s *actor.System) int {
	if limit := extension.MaxMessage(s); limit > 0 {
		return min(maxPart, limit/2)
	}
	return maxPart
}

// A page is as many statuses as go into one message.
type page struct {
	statuses []Status
	more     bool // there are others
}

// pageStatuses is how many a page has at most.
const pageStatuses = 1000

// pageOf returns the first of some statuses, which are sorted by label, after that label:
// about so many bytes, unless one is larger.
func pageOf(all []Status, after string, maxBytes int) page {
	i, found := slices.BinarySearchFunc(all, after, func(s Status, label string) int { return strings.Compare(s.Spec.Label, label) })
	if found {
		i++
	}
	all = all[i:]
	size := 0
	for i, s := range all {
		size += s.size()
		if i > 0 && (size > maxBytes || i == pageStatuses) {
			return page{statuses: all[:i], more: true}
		}
	}
	return page{statuses: all}
}

// size is about how many bytes s has in a message.
func (s Status) size() int { return s.Spec.size() + len(s.LastError) }

// after returns the label of the last status, "" when there is none.
func after(all []Status) string {
	if len(all) == 0 {
		return ""
	}
	return all[len(all)-1].Spec.Label
}
