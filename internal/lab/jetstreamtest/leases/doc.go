// Package leases has the tests of jetstream.Leases that need a server.
package leases
