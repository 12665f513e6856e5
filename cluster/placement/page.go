package placement

import (
	"slices"
	"strings"
)

// A page is as many statuses as go into one message.
type page struct {
	statuses []Status
	more     bool // there are others
}

const (
	// pageBytes is about how large a page is, unless one status is larger.
	pageBytes = 1 << 20
	// pageStatuses is how many a page has at most.
	pageStatuses = 1000
)

// pageOf returns the first of some statuses, which are sorted by label, after that label.
func pageOf(all []Status, after string) page {
	i, found := slices.BinarySearchFunc(all, after, func(s Status, label string) int { return strings.Compare(s.Spec.Label, label) })
	if found {
		i++
	}
	all = all[i:]
	size := 0
	for i, s := range all {
		size += s.size()
		if i > 0 && (size > pageBytes || i == pageStatuses) {
			return page{statuses: all[:i], more: true}
		}
	}
	return page{statuses: all}
}

// size is about how many bytes s has in a message.
func (s Status) size() int {
	n := len(s.Spec.State) + len(s.LastError)
	for _, text := range s.Spec.texts() {
		n += len(text)
	}
	return n
}

// after returns the label of the last status, "" when there is none.
func after(all []Status) string {
	if len(all) == 0 {
		return ""
	}
	return all[len(all)-1].Spec.Label
}
