// Package costs has tests of what actors cost: bytes, allocations and nanoseconds. They are apart
// from those of package actor because they mean nothing with the race detector, and because the
// tests of that package take minutes to compile.
package costs
