package sqlite

import (
	"context"
	"errors"
	"fmt"
	"github.com/understudy-go/understudy/persistence/journal"
	"os"
	"time"
)

const (
	// grace is how long a lock is waited for when its context is done already.
	grace = 500 * time.Millisecond

	// wakeAfter is how long a lock is waited for until its holder is looked at, and then
	// again and again: it may have been stopped. A transaction takes milliseconds. Whoever
	// takes over from a stopped process waits so long for each lock that it holds.
	wakeAfter = 250 * time.Millisecond
)

// A turnstile queues the writers of all processes. Who wants to write takes the turn,
// waits for the mutex with it, and passes it on when it has the mutex; so a writer that
// comes again at once finds somebody else's turn taken. The busy handler of SQLite
// sleeps and tries instead, and may starve for seconds beside one busy writer.
//
// All waiting is in the kernel, and locks go with the process that held them.
type turnstile struct {
	turn, mutex *fileLock
}

// openTurnstile opens the two locks beside the database at path.
func openTurnstile(path string) (*turnstile, error) {
	turn, err := openFileLock(path + ".turn")
	if err != nil {
		return nil, err
	}
	mutex, err := openFileLock(path + ".mu")
	if err != nil {
		return nil, errors.Join(err, turn.close())
	}
	return &turnstile{turn: turn, mutex: mutex}, nil
}

// lock waits until this turnstile has the mutex or ctx is done. After a failure that is
// due to ctx it cannot be used again.
func (t *turnstile) lock(ctx context.Context) error {
	if err := t.turn.lock(ctx); err != nil {
		return err
	}
	if err := t.mutex.lock(ctx); err != nil {
		return errors.Join(err, t.turn.unlock())
	}
	return t.turn.unlock()
}

func (t *turnstile) unlock() error { return t.mutex.unlock() }

func (t *turnstile) close() error { return errors.Join(t.turn.close(), t.mutex.close()) }

// A fileLock is an exclusive lock that the operating system keeps on a file.
type fileLock struct {
	file      *os.File
	abandoned bool // a goroutine that waits for the lock owns the file
}

func openFileLock(path string) (*fileLock, error) {
	file, err := os.OpenFile(path, os.O_RDONLY|os.O_CREATE, 0o644)
	if err != nil {
		return nil, fmt.Errorf("%w: open the lock file beside the database: %w", journal.ErrUnavailable, err)
	}
	return &fileLock{file: file}, nil
}

// lock waits for the lock until ctx is done, and a moment longer. A wait in the system
// cannot be called off, so in the end the waiting goroutine is left alone with the file.
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
			_ = file.Close() // nobody is left to hear of an error
		}
	}()
	look := time.NewTicker(wakeAfter)
	defer look.Stop()
	for waiting := true; waiting; {
		select {
		case err := <-got:
			return lockError(err)
		case <-look.C:
			wakeHolder(file)
		case <-ctx.Done():
			waiting = false
		}
	}
	// A process that runs passes the lock on in a moment; then nothing is left behind.
	select {
	case err := <-got:
		return lockError(err)
	case <-time.After(grace):
	}
	close(leave)
	l.abandoned = true
	return fmt.Errorf("%w: another process does not stop writing, or was stopped while it wrote (it has %s open): %w",
		journal.ErrUnavailable, file.Name(), ctx.Err())
}

func (l *fileLock) unlock() error { return lockError(funlock(l.file)) }

// close releases the lock, too.
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
