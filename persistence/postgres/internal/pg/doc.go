// Package pg has the shared code of the packages that keep their state in PostgreSQL. It connects,
// creates a table that many programs use, explains the server's error codes, and stores arbitrary
// text. Package pgtest has the servers for their tests.
//
// It is a separate module, like the packages that use it, so other programs do not depend on a
// PostgreSQL client.
package pg
