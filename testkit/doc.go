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
// Whatever fails, fails the test at once, at the line of the test that asked. So probes
// must be used from the test's own goroutine.
package testkit
