//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package sqlite

import (
	"context"
	"os"
	"syscall"
	"testing"

	"go.uber.org/zap"

	"github.com/understudy-go/understudy/internal/lab/processes"
	"github.com/understudy-go/understudy/internal/process"
	"github.com/understudy-go/understudy/persistence/journal"
)

// The arguments of a process are the path of the database and a persistence id.
func TestMain(m *testing.M) {
	open := func(place []string) (journal.Journal, error) { return Open(place[0]) }
	processes.Main(processes.Writers(open, map[string]processes.Role{
		"append batches": appendBatches,
		"hold the lock":  holdTheLock,
		"open as nobody": openAsNobody,
		"migrate": processes.Migrator(func(place []string, log *zap.Logger) (journal.Journal, error) {
			return openLater(context.Background(), place[0], log)
		}),
	}))
	os.Exit(m.Run())
}

// holdTheLock begins a transaction and does not end it.
func holdTheLock(args []string) error {
	j, err := Open(args[0])
	if err != nil {
		return err
	}
	if err := j.writer.lock(context.Background()); err != nil {
		return err
	}
	processes.Say("holding")
	<-process.UntilEOF().Done()
	return nil
}

// openAsNobody prints the error for a user without permissions; root has all permissions.
func openAsNobody(args []string) error {
	if err := syscall.Setuid(65534); err != nil {
		return err
	}
	j, err := Open(args[0])
	if err == nil {
		_, err = j.Claim(context.Background(), args[1], journal.WriterID{}, journal.Bounds{})
	}
	processes.Say("%v", err)
	return nil
}
