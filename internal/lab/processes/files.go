//go:build unix

package processes

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/persistence"
)

// OutOfFiles tests a process, started by start, that appends to id, claims it and reads while it
// can open no files. Each operation must succeed, or fail because the store is unavailable. All
// must succeed again when files can be opened. Acknowledged events must be in j.
func OutOfFiles(t *testing.T, j persistence.Journal, id string, start func(role string) *Child) {
	t.Helper()
	var acked []string
	for _, line := range start("run out of files").Finish() {
		if report, ok := strings.CutPrefix(line, "without files: "); ok {
			t.Log(report)
		} else {
			acked = append(acked, line)
		}
	}
	require.Equal(t, acked, payloads(t, j, id))
	require.GreaterOrEqual(t, len(acked), 2)
}

func runOutOfFiles(j persistence.Journal, id string) error {
	o, err := own(j, id)
	if err != nil {
		return err
	}
	if err := o.append(); err != nil {
		return err
	}
	release, err := takeAllFiles()
	if err != nil {
		return err
	}
	_, claimErr := own(j, id+" of another")
	for what, err := range map[string]error{"append": o.append(), "claim": claimErr, "read": readAll(j, id)} {
		if err != nil && !errors.Is(err, persistence.ErrUnavailable) {
			return fmt.Errorf("%s: %w", what, err)
		}
		Say("without files: %s: %v", what, err)
	}
	release()
	return errors.Join(o.append(), readAll(j, id), o.reclaim())
}

func readAll(j persistence.Journal, id string) error {
	for _, err := range j.Read(context.Background(), id, 1, 1<<62) {
		if err != nil {
			return err
		}
	}
	return nil
}

// takeAllFiles opens files until no more can be opened.
func takeAllFiles() (release func(), err error) {
	few := syscall.Rlimit{Cur: 100, Max: 100}
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &few); err != nil {
		return nil, err
	}
	var taken []*os.File
	for {
		f, err := os.Open(os.DevNull)
		switch {
		case err == nil:
			taken = append(taken, f)
		case errors.Is(err, syscall.EMFILE):
			return func() {
				for _, f := range taken {
					_ = f.Close() // nothing was written
				}
			}, nil
		default:
			return nil, err
		}
	}
}
