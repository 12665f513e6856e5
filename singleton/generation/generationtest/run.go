package generationtest

import (
	"slices"
	"testing"

	"github.com/understudy-go/understudy/singleton/generation"
)

// A Backend is what keeps the generations, as the laws see it. Hooks report failures to
// their t.
type Backend struct {
	// Open returns a source as another node would have it. It is called several times for one
	// law, from the law's goroutine. The sources share what they keep; those of another Backend
	// may be the same, as every law makes labels up, but laws do not run at the same time.
	Open func(t *testing.T) generation.Source

	// Advance makes g the generation of a label, which some node owns. Optional: the numbers
	// end at 2³²-1, where no law comes by claiming.
	Advance func(t *testing.T, label string, g generation.Generation)

	// Restart stops what keeps the generations and starts it again; sources that are open go on
	// with it, or are opened again by Open, if they are to be. Optional.
	Restart func(t *testing.T)

	// Seed of the random laws; 0 picks one and logs it.
	Seed uint64
}

// Run checks the backends that open returns, one for each law.
func Run(t *testing.T, open func(t *testing.T) Backend) {
	for _, l := range slices.Concat(claimLaws, specLaws, nodeLaws, endLaws, modelLaws) {
		t.Run(l.name, func(t *testing.T) { l.check(&env{T: t, backend: open(t)}) })
	}
}

// A law is something that is true of every source.
type law struct {
	name  string
	check func(*env)
}
