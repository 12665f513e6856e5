// Package jetstreamtest has the tests of package jetstream that need a server. It is a
// module of its own: what the embedded server requires must not choose the versions of
// programs that only need the client.
package jetstreamtest
