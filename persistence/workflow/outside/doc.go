// Package outside is for what the steps of package workflow call: HTTP services, SQL databases,
// object stores and objects of Kubernetes.
//
// This package is experimental: a minor release may change it.
//
// A step may run again after a crash, and a process that was replaced may still execute one. A
// receiver knows both by what goes with each call, the [Caller]: a repetition has the same key,
// and a replaced process has a lower token than its successor.
//
//	client := &http.Client{Transport: outside.Transport{}}  // of the steps: puts the caller into headers
//	…
//	http.Handle("POST /charge", outside.Handler(outside.NewSQL(db), charge)) // of the receiver
//
// # Guarantees
//
//   - [Handler] with [NewSQL] answers a repetition with the first answer. What the handler does
//     through [TxOf] happens exactly once, whatever crashes, and not at all for a replaced
//     process.
//   - [Fence] makes a transaction of a step, or behind a Handler, fail for a replaced process.
//   - [Update] changes an object once for a step, and not for a replaced process, in any store
//     that can write on the condition that nothing has changed.
//
// What a handler does in another way than through TxOf is done again if its process dies before
// the answer is stored. Where both can be in one database, [workflow.Tx] needs no receiver.
//
// # Clocks and lifetimes
//
// Nothing here depends on a clock. Keys and tokens are kept until somebody deletes them, see
// [SQL]. Tokens belong to the journal of the runs. After a journal was lost, its successor begins
// with low tokens, and receivers refuse it until they forget the old ones.
//
// # Testing
//
// [Memory] is a [Store] for tests. Package workflowtest of the testkit crashes a run everywhere,
// so that it shows which receivers count twice.
package outside
