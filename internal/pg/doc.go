// Package pg is what the packages that keep their state in PostgreSQL share: how they
// connect, how they make a table that many programs use, what the server's error codes are
// and what to do about them, and how they store any text. Package pgtest has the servers of
// their tests.
//
// It is a module of its own, as the packages are that use it: a program that imports none
// of them hears nothing of a client of PostgreSQL.
package pg
