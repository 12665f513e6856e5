package protocol

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
)

// Features is the set of features that a node has. Bits that this release does not know are kept,
// and have no effect.
type Features uint64

// Own are the features of this release.
const Own = Features(1<<Figures | 1<<Calendars | 1<<Backlogs)

// Has reports whether the set has a feature.
func (s Features) Has(f Feature) bool { return s>>f&1 == 1 }
