// Package testkit helps to test actors. It has systems that end with the test, probes that stand
// in for other actors, an Ask that fails the test instead of returning an error, and a census of
// the running instances of a behavior.
//
// Everything works inside and outside bubbles of testing/synctest. Inside, time is virtual:
// waiting an hour for nothing takes no time, and tests of timeouts and backoffs are exact. Prefer
// bubbles:
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
// A system of [NewSystem] encodes and decodes each message and reply sent through a ref, as
// between nodes, and the recipient gets the copy. So a test on one node finds what would fail on
// two: an unregistered type, an unexported field, a message that two actors share. The test then
// fails and names the type and the line to add:
//
//	func init() { actor.RegisterType[Greet]("shop.greet") }
//
// Messages from an actor to itself, such as timers and results of PipeToSelf, are not encoded. A
// type whose values stay on one node has a method LocalOnly() bool that returns true.
// [WithoutEncoding] turns encoding off for a system.
//
// # Deadlines
//
// [CheckDeadlines] reads the source of a package, and finds handlers whose asks go on when nobody
// waits for their request any more.
//
// # Failures
//
// Every failed expectation fails the test at once, at the line of the test that asked. So use
// probes only in the test's own goroutine.
package testkit
