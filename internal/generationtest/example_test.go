package generationtest_test

import (
	"testing"

	"github.com/understudy-go/understudy/internal/generationtest"
	"github.com/understudy-go/understudy/persistence/generations"
	"github.com/understudy-go/understudy/singleton/generation"
)

// What a source cannot do from outside is left out.
func ExampleRun() {
	_ = func(t *testing.T) { // TestSource
		store := generations.NewMemory()
		generationtest.Run(t, func(*testing.T) generationtest.Backend {
			return generationtest.Backend{
				Open: func(*testing.T) generation.Source { return store }, // connect
			}
		})
	}
}
