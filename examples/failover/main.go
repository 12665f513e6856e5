// Command failover runs a counter that exists once in a cluster of three processes, and keeps its
// count while the process that hosts it is killed again and again.
//
//	go run ./examples/failover
//
// It starts three processes of itself on free ports of the loopback interface, with one
// SQLite journal in a temporary directory. Clients on every node send increments to the
// counter all the time. The host is killed with SIGKILL, and so is the next one; the one after
// that leaves. In the end every acknowledged increment must be in the final state exactly once,
// by its ID; only then is the exit status 0.
//
// With -pause the first host is stopped with SIGSTOP instead, and continued when another node has
// taken over. If it writes before it learns that it has been replaced, the journal refuses the
// write.
//
// -journal PATH keeps the SQLite journal at that path. To use PostgreSQL, run the command in the
// module of that journal, which has the client library:
//
//	go -C internal/lab/postgres run ./failover -journal postgres://user@host/db
//
// The program is in internal/lab/failover: the counter in counter.go, a node of the cluster in
// node.go, the faults in story.go.
package main

import "github.com/understudy-go/understudy/internal/lab/failover"

func main() { failover.Main(nil) }
