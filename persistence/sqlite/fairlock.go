package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/understudy-go/understudy/persistence/journal"
)

const (
	// grace is how much longer a caller waits for a lock after its context is done.
	grace = 500 * time.Millisecond

	// continueAfter is how long a writer waits for a lock before it looks whether the holder has
	// been stopped, and how often it looks again. A transaction takes milliseconds. A writer
	// that takes over from a stopped process waits this long for each lock it holds.
	continueAfter = 250 * time.Millisecond
)

// A fairLock is a mutex for the writers of all processes that serves them in order. A writer takes
// the turn, waits for the mutex while it has the turn, and then passes the turn on; a writer that
// returns at once therefore finds the turn taken. SQLite's own busy handler sleeps and retries, and
// can starve for seconds beside one busy writer.
//
// The kernel does all waiting, and releases the locks of a process that dies.
type fairLock struct {
	turn, mutex *fileLock
}

func openFairLock(path string, cfg config) (*fairLock, error) {
	turn, err := openFileLock(path+".turn", cfg)
	if err != nil {
		return nil, err
	}
	mutex, err := openFileLock(path+".mu", cfg)
	if err != nil {
		return nil, errors.Join(err, turn.close())
	}
	return &fairLock{turn: turn, mutex: mutex}, nil
}

// lock waits for the mutex until ctx is done. After a failure caused by ctx the lock cannot be
// used again.
func (l *fairLock) lock(ctx context.Context) error {
	if err := l.turn.lock(ctx); err != nil {
		return err
	}
	if err := l.mutex.lock(ctx); err != nil {
		return errors.Join(err, l.turn.unlock())
	}
	return l.turn.unlock()
}

func (l *fairLock) unlock() error { return l.mutex.unlock() }

func (l *fairLock) close() error { return errors.Join(l.turn.close(), l.mutex.close()) }

// A fileLock is an exclusive lock that the operating system keeps on a file.
type fileLock struct {
	file      *os.File
	continues bool            // a stopped holder, see [ContinueStopped]
	abandoned bool            // a goroutine that waits for the lock owns the file
	blocked   func(why error) // hears that the lock is waited for, and nil when that ends; may be nil
}

func openFileLock(path string, cfg config) (*fileLock, error) {
	file, err := os.OpenFile(path, os.O_RDONLY|os.O_CREATE, 0o644)
	if err != nil {
		return nil, fmt.Errorf("%w: open the lock file beside the database: %w", journal.ErrUnavailable, err)
	}
	return &fileLock{file: file, continues: cfg.continueStopped}, nil
}

// lock waits for the lock until ctx is done, and for grace after that. A wait in the kernel
// cannot be cancelled; a goroutine that still waits then keeps the file.
func (l *fileLock) lock(ctx context.Context) error {
	if ok, err := tryFlock(l.file); ok || err != nil {
		return lockError(err)
	}
	file, got, leave := l.file, make(chan error), make(chan struct{})
	go func() {
		err := flock(file)
		select {
		case got <- err:
		case <-leave:
			_ = file.Close() // nobody is left to report an error to
		}
	}()
	look := time.NewTicker(continueAfter)
	defer look.Stop()
	if l.blocked != nil {
		defer l.blocked(nil)
	}
	for waiting := true; waiting; {
		select {
		case err := <-got:
			return lockError(err)
		case <-look.C:
			if l.continues {
				continueHolder(file)
			}
			if l.blocked != nil {
				l.blocked(l.held())
			}
		case <-ctx.Done():
			waiting = false
		}
	}
	// A running process soon releases the lock; then no goroutine is left behind.
	select {
	case err := <-got:
		return lockError(err)
	case <-time.After(grace):
	}
	close(leave)
	l.abandoned = true
	return fmt.Errorf("%w: %w: %w", journal.ErrUnavailable, l.held(), ctx.Err())
}

func (l *fileLock) held() error {
	return fmt.Errorf("another process does not stop writing, or was stopped while it wrote (it has %s open)", l.file.Name())
}

func (l *fileLock) unlock() error { return lockError(funlock(l.file)) }

func (l *fileLock) close() error {
	if l.abandoned {
		return nil
	}
	return l.file.Close()
}

func lockError(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w: lock file: %w", journal.ErrUnavailable, err)
}
