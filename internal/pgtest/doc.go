// Package pgtest starts PostgreSQL servers for tests, which may harm them, and PgBouncers in front
// of them.
//
// It uses the servers that are installed on the machine. Without a server the test is skipped, or
// fails if UNDERSTUDY_REQUIRE_SERVICES is set.
package pgtest
