// Package testkit tests actors: systems that end with the test, probes that stand in
// for other actors, an Ask that fails the test instead of returning an error, and a
// census of the living instances of a behavior.
//
// Everything works inside a bubble of testing/synctest and outside. Inside, time is
// virtual: a probe that waits an hour for nothing costs no time, and a test of timeouts
// and backoffs is exact. Prefer it:
//
//	func TestGreeter(t *testing.T) {
//		synctest.Test(t, func(t *testing.T) {
//			system := testkit.NewSystem(t)
//			probe := testkit.NewProbe[string](t, system)
//			greeter := actor.Spawn(system, greeter(), "greeter")
//			greeter.Tell(Greet{Name: "Ada", ReplyTo: probe.Ref()})
//			probe.Expect("hello, Ada")
//			probe.ExpectNone(time.Hour)
//		})
//	}
//
// # Messages are encoded
//
// A system of [NewSystem] carries messages within it as between nodes: each message and each
// reply that is told through a ref is encoded and decoded, and the recipient gets the copy.
// So a test on one node finds what would fail on two: a type that is not registered, a field
// that is not exported, a message that two actors share. The test fails then, and names the
// type and the line to add:
//
//	func init() { actor.RegisterType[Greet]("shop.greet") }
//
// Timers, results of PipeToSelf and what else an actor gets from itself are not encoded; see
// [extension.WithEncoding]. A type whose values are for actors of one node has a method
// LocalOnly() bool that returns true; and [WithoutEncoding] turns it off for a system.
//
// # Failures
//
// Whatever fails, fails the test at once, at the line of the test that asked. So probes
// must be used from the test's own goroutine.
package testkit
