// Command failover shows what Understudy is for: a counter that exists once in a cluster
// of three processes, and keeps its count while its host is killed, again and again.
//
//	go run ./examples/failover
//
// It starts three processes of itself on free ports of the loopback interface, with one
// SQLite journal in a temporary directory. Clients on every node send increments to the
// counter all the time. The host is killed with SIGKILL, the next one too, and the one
// after that leaves in good order. In the end every increment that was acknowledged must
// be in the final state exactly once, by its ID; only then is the exit status 0.
//
// With -pause the first host is stopped with SIGSTOP instead, and continued when another
// has taken over: its next write is refused by the journal, should it come to that before
// the host hears that it has been replaced.
//
// With -journal and a path the SQLite journal is there, and stays. For one in PostgreSQL
// there is a command in the module of that journal, which brings the client library:
//
//	go -C persistence/postgres run ./failover -journal postgres://user@host/db
//
// The program is in internal/lab/failover: the counter in counter.go, a node of the cluster in
// node.go, what is done to the nodes in story.go.
package main

import "github.com/understudy-go/understudy/internal/lab/failover"

func main() { failover.Main(nil) }
