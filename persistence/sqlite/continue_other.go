//go:build !linux

package sqlite

import "os"

// continueHolder does nothing: this system does not report the holder of a lock.
func continueHolder(*os.File) {}
