//go:build !unix

package process

import "errors"

var errNoPause = errors.New("process: only Unix systems can stop a process and continue it")

// Pause always returns an error.
func Pause(int) error { return errNoPause }

// Continue always returns an error.
func Continue(int) error { return errNoPause }
