// Package compiletime measures what a message type costs the compiler and the binary. It has tests
// only.
//
// The compiler instantiates package actor for each type of messages whose memory looks different.
// A method of a generic type becomes two functions for each of them, or four if its receiver is no
// pointer. A struct that is embedded in a generic one adds two for each of its methods.
package compiletime
