//go:build !linux

package bench

func apart(func()) { fail("only Linux lets a process choose its processor") }
