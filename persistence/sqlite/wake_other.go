//go:build !linux

package sqlite

import (
	"os"
)

// wakeHolder knows no way here to find who holds a lock.
func wakeHolder(*os.File) {}
