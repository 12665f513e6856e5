// Package guide types the pages of docs/guide that build a program, as they are printed, and
// compares the result with examples/template. It is a module of its own because it starts
// PostgreSQL.
package guide
