// Package leasetest checks that a [lease.Store] keeps its contract: against a real server
// in real time, or in a bubble of package testing/synctest.
//
//	func TestStore(t *testing.T) {
//		server := startServer(t)
//		leasetest.Run(t, func(t *testing.T) leasetest.Backend {
//			return leasetest.Backend{
//				Open: func(t *testing.T) lease.Store { return connect(t, server) },
//				TTL:  time.Second,
//			}
//		})
//	}
//
// Some laws ask the store itself. Others put a layer between it and the leases of
// [lease.New] that loses answers, delays, hangs and cuts, with holders whose clocks run
// wrong or stop, and see to it that never two of them believe to hold one name. What a
// store cannot be made to do from outside, hooks do; a law whose hook is missing is
// skipped, and says so.
//
// Beside the laws, [KilledHolder] has a real process die, [Contenders] asks for more than
// the contract does, and [BenchmarkStore] measures.
//
// In real time most laws wait for a few TTLs: 35 s in all with a TTL of 1 s and two laws at
// a time, and less with go test -parallel 16, as they hardly compute.
package leasetest
