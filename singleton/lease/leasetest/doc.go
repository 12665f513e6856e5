// Package leasetest checks that a [lease.Store] keeps its contract: against a real server
// in real time, or in a bubble of package testing/synctest.
//
// This package is experimental: a minor release may change it.
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
// Some laws call the store itself. Others put a layer between the store and the leases of
// [lease.New] that loses answers, delays, hangs and cuts requests, with holders whose clocks run
// wrong or stop. They check that never two holders believe to hold one name. Hooks do what a test
// cannot do to a store from outside; a law whose hook is missing is skipped, and says so.
//
// Besides the laws, [KilledHolder] kills a real process, [Contenders] requires more than the
// contract does, and [BenchmarkStore] measures.
//
// In real time most laws wait for a few TTLs: 35 s in all with a TTL of 1 s and two laws at a time.
// They hardly compute, so go test -parallel 16 is faster.
package leasetest
