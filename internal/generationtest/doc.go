// Package generationtest checks that a [generation.Source] keeps its contract: that no term and no
// sequence number is handed out twice, whichever node asks, and whatever is forgotten.
//
// This package is experimental: a minor release may change it.
//
//	func TestSource(t *testing.T) {
//		generationtest.Run(t, func(t *testing.T) generationtest.Backend {
//			store := openStore(t)
//			return generationtest.Backend{
//				Open: func(t *testing.T) generation.Source { return connect(t, store) },
//			}
//		})
//	}
//
// Hooks of the Backend do what a test cannot do through the interface. A law whose hook is missing
// is skipped, and says so. [Killed] kills real processes while they claim, and [Benchmark]
// measures.
package generationtest
