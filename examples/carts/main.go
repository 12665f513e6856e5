// Command carts is a web shop whose carts are entities of a sharded type, on three processes.
//
//	go run ./examples/carts
//
// Each cart is one actor in the whole cluster. It keeps its items in a journal, and sleeps when
// nobody needs it. Customers add items over HTTP, by any of the three servers. One server is killed
// with SIGKILL meanwhile. In the end the program reads all carts and checks that each acknowledged
// item is in its cart, and once; only then is the exit status 0.
//
// The journal is SQLite in a temporary directory. -journal PATH keeps it at that path. To use
// PostgreSQL, run the command in the module of that journal, which has the client library:
//
//	go -C internal/lab/postgres run ./carts -journal postgres://user@host/db
//
// The program is in internal/lab/carts: the cart in cart.go, a server in server.go, the customers
// in customer.go, and what happens to them in story.go.
package main

import "github.com/understudy-go/understudy/internal/lab/carts"

func main() { carts.Main(nil) }
