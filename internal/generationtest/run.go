package generationtest

import (
	"slices"
	"testing"

	"github.com/understudy-go/understudy/singleton/generation"
)

// A Backend is the store behind a source, as the laws see it. Hooks report failures to their t.
type Backend struct {
	// Open returns a source as another node would open it. It is called several times for one law,
	// from the law's goroutine. The sources of a Backend must share their store. Backends may share
	// one, too: each law uses labels of its own, and laws do not run at the same time. Required.
	Open func(t *testing.T) generation.Source

	// Advance makes g the generation of a label, with any owner. The laws about the end of the
	// numbers, 2³²-1, need it. Optional.
	Advance func(t *testing.T, label string, g generation.Generation)

	// Restart stops the store and starts it again. Open sources must continue to work, or laws
	// open them again. Optional.
	Restart func(t *testing.T)

	// Seed is the seed of the random laws. The default is a random one, which is logged.
	Seed uint64
}

// Run checks the laws. It calls open once for each of them.
func Run(t *testing.T, open func(t *testing.T) Backend) {
	for _, l := range slices.Concat(claimLaws, specLaws, nodeLaws, endLaws, modelLaws) {
		t.Run(l.name, func(t *testing.T) { l.check(&env{T: t, backend: open(t)}) })
	}
}

type law struct {
	name  string
	check func(*env)
}
