// Command reminders delivers reminders when they are due, by timers that are stored, on three
// processes.
//
//	go run ./examples/reminders
//
// Each customer is an entity of a sharded type. It stores a reminder and its timer in one append,
// and then acknowledges it. It sleeps until the timer is due, is woken, and posts the reminder to
// an HTTP endpoint outside of the cluster, which logs each request, repetitions as well. Some
// reminders are cancelled. The process that has delivered most is killed with SIGKILL while it
// delivers.
//
// In the end the program compares the acknowledgements with the log. The exit status is 0 only if
// each reminder was delivered, except those that were cancelled, and each repetition has an
// Attempt above 1. It also prints how late the reminders were.
//
// The journal is SQLite in a temporary directory. -journal PATH keeps it at that path. To use
// PostgreSQL, run the command in the module of that journal, which has the client library:
//
//	go -C internal/lab/postgres run ./reminders -journal postgres://user@host/db
//
// The program is in internal/lab/reminders: the commands and events in reminder.go, their entity in
// entity.go, a node in server.go, the recipient in recipient.go, and what happens in story.go.
package main

import "github.com/understudy-go/understudy/internal/lab/reminders"

func main() { reminders.Main(nil) }
