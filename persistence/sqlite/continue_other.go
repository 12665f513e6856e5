//go:build !linux

package sqlite

import "os"

// continueHolder does nothing: this system does not tell who holds a lock.
func continueHolder(*os.File) {}
