package sharding

import "github.com/understudy-go/understudy/persistence/journal"

// A slicer returns the slices of the entities of one type, like journal.SliceOf, without making
// their persistence ids. It is the state of the FNV-1a hash after what all of them begin with.
type slicer uint32

const (
	fnvOffset slicer = 2166136261
	fnvPrime  slicer = 16777619
)

func slicerOf(typ string) slicer { return fnvOffset.after(persistenceID(typ, "")) }

func (s slicer) after(text string) slicer {
	for i := range len(text) {
		s = (s ^ slicer(text[i])) * fnvPrime
	}
	return s
}

// of returns the slice of the entity with an id.
func (s slicer) of(id string) int { return int(s.after(id) % journal.Slices) }
