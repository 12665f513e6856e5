// Package generationtest checks that a [generation.Source] keeps its contract: that no term
// and no number comes twice, whoever asks, from wherever, and whatever is forgotten.
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
// What a source cannot be made to do from outside, hooks do; a law whose hook is missing is
// skipped, and says so. Beside the laws, [Killed] has real processes die while they claim,
// and [Benchmark] measures.
package generationtest
