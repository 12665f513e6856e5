// Command orders fulfils orders by runs of package workflow, on three processes.
//
//	go run ./examples/orders
//
// The run of an order reserves goods, waits for a person if the order is big, charges a card, and
// ships. If the card is declined, the person refuses or the customer cancels, compensations undo
// what was done. The goods, the money and the parcels are those of services outside of the cluster.
// They write each request down, with its key and its token.
//
// Meanwhile the busiest process is killed with SIGKILL. Another is stopped with SIGSTOP until it
// was replaced, and then continues. Answers of the services are lost. All processes are replaced by
// a version of the program that has one more step.
//
// In the end the program compares the ends of the orders with the ledger of the services. The exit
// status is 0 only if each order was charged once or not at all, as it should be, and nothing was
// done for a process that was replaced.
//
// -orders says how many orders there are. The journal is SQLite in a temporary directory. -journal
// PATH keeps it at that path. To use PostgreSQL, run the command in the module of that journal,
// which has the client library:
//
//	go -C internal/lab/postgres run ./orders -journal postgres://user@host/db
//
// The program is in internal/lab/orders: the function of the runs in order.go, a node in node.go,
// the services in services.go and ledger.go, the customers in customer.go, and what happens in
// story.go.
package main

import "github.com/understudy-go/understudy/internal/lab/orders"

func main() { orders.Main(nil) }
