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

// OutOfFiles has a process, which start starts, append to id, claim and read while it can
// open no more files: each works, or says that the store is not available, and all work
// again when files are to be had. What it has acknowledged is in j.
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

// takeAllFiles opens files until there are no more to be had.
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
