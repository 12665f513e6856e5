package protocol

import (
	"maps"
	"strings"
	"sync"
)

// Skipped counts the messages that a node has skipped because it does not know their kind. The zero
// value is empty. Its methods may be called by any goroutine.
type Skipped struct {
	mu     sync.Mutex // guards all below
	counts map[string]uint64
	seen   map[skip]bool
}

type skip struct{ kind, peer string }

// The bounds of a Skipped, because kinds and peers come from the network.
const (
	maxKinds = 100
	maxSeen  = 1000
	maxKind  = 64 // bytes; of a longer kind only the beginning is used
)

// OtherKinds counts the messages whose kinds are too many to be counted one by one.
const OtherKinds = "others"

// Add counts a message of a kind from a peer. It reports whether it is the first of that kind from
// that peer, which is to be logged.
func (s *Skipped) Add(kind, peer string) (first bool) {
	if len(kind) > maxKind {
		kind = strings.ToValidUTF8(strings.Clone(kind[:maxKind]), "")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.counts == nil {
		s.counts, s.seen = map[string]uint64{}, map[skip]bool{}
	}
	if _, known := s.counts[kind]; !known && len(s.counts) >= maxKinds {
		kind = OtherKinds
	}
	s.counts[kind]++
	key := skip{kind, peer}
	if s.seen[key] || len(s.seen) >= maxSeen {
		return false
	}
	s.seen[key] = true
	return true
}

// Counts returns how many messages of each kind were skipped.
func (s *Skipped) Counts() map[string]uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.counts)
}

// A Feature is something that a node understands and others may not, such as a kind of message. It
// is a number below 64: the place of its bit in [Features]. The list is append-only; a number is
// never used again.
type Feature uint8

// The features of the protocol between the nodes of a cluster, see docs/upgrades.md.
const (
	// Figures: the node answers when another one asks for the figures of its singletons.
	Figures Feature = 0
	// Calendars: the node answers when another one asks for its calendar time.
	Calendars Feature = 1
	// Backlogs: the node answers when another one asks which of its actors are behind.
	Backlogs Feature = 2
	// Straight: the node takes messages to a singleton that are encoded as those to other actors.
	Straight Feature = 3
)

// Features is the set of features that a node has. Bits that this release does not know are kept,
// and have no effect.
type Features uint64

// Own are the features of this release.
const Own = Features(1<<Figures | 1<<Calendars | 1<<Backlogs | 1<<Straight)

// Has reports whether the set has a feature.
func (s Features) Has(f Feature) bool { return s>>f&1 == 1 }
