// Package pgtest has PostgreSQL servers for tests, which may harm them, and PgBouncers before
// those.
//
// The servers are those that are installed on the machine. Where there is none the test is
// skipped, or fails when UNDERSTUDY_REQUIRE_SERVICES is set.
package pgtest
