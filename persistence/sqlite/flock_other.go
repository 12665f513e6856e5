//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package sqlite

import (
	"errors"
	"fmt"
	"os"
	"runtime"
)

// The fair lock is not implemented on this system: [Open] fails.
var errNoFlock = fmt.Errorf("package sqlite has no file locks for %s: %w", runtime.GOOS, errors.ErrUnsupported)

func tryFlock(*os.File) (bool, error) { return false, errNoFlock }

func flock(*os.File) error { return errNoFlock }

func funlock(*os.File) error { return errNoFlock }
