package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/understudy-go/understudy/persistence/internal/group"
	"github.com/understudy-go/understudy/persistence/journal"
)

// openPatience bounds how long Open waits for other processes that write.
const openPatience = 10 * time.Second

var (
	_ journal.Journal       = (*Journal)(nil)
	_ journal.SnapshotStore = (*Journal)(nil)
	_ journal.EventReader   = (*Journal)(nil)
)

// A Journal is a [journal.Journal], a [journal.SnapshotStore] and a
// [journal.EventReader] in an SQLite database. Make one with [Open].
type Journal struct {
	journal.Notifier

	readers   *sql.DB
	searches  searches
	writer    *writer
	queue     *group.Queue[change]
	stop      context.CancelFunc // ends its waiting for the turn
	committer sync.WaitGroup
	closed    atomic.Bool
	closing   sync.Once
	closeErr  error
}

// An Option changes how [Open] opens a journal.
type Option func(*config)

type config struct {
	synchronous     string
	continueStopped bool
}

// ProcessSafe gives up durability for speed: a commit is not synced to the disk, so it
// survives the death of the process, but not always that of the machine. The database
// does not get damaged, it loses its last commits. Without this option nothing that was
// acknowledged gets lost.
func ProcessSafe() Option {
	return func(c *config) { c.synchronous = "NORMAL" }
}

// ContinueStopped lets a writer that has waited a quarter of a second for another process
// continue that process with SIGCONT, if a signal has stopped it (SIGSTOP, Ctrl-Z) while it held
// the lock. Without it, one stopped process keeps all others from writing until it is continued
// or killed; their calls fail with [journal.ErrUnavailable] when their contexts are done. The
// stopped process finishes its write; later writes are refused if its ids have been claimed
// meanwhile.
//
// It works on Linux, for processes that are visible in /proc and that this process may signal,
// and not for one that a debugger has stopped. Do not use it where processes are stopped on
// purpose. By default other processes are left alone.
func ContinueStopped() Option {
	return func(c *config) { c.continueStopped = true }
}

// Open opens the journal in the file at path, and creates it if there is none. Its
// directory must exist; SQLite and the journal keep further files beside it: path-wal,
// path-shm, path.turn and path.mu. Any number of processes of one machine may have it
// open.
//
// It fails with [ErrNotJournal] when the file is something else, with [ErrNewerSchema]
// when a later version of this package made it, and with [journal.ErrUnavailable]
// when it cannot be used now.
func Open(path string, opts ...Option) (*Journal, error) {
	cfg := config{synchronous: "FULL"}
	for _, opt := range opts {
		opt(&cfg)
	}
	ctx, cancel := context.WithTimeout(context.Background(), openPatience)
	defer cancel()
	j, err := open(ctx, path, cfg)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	return j, nil
}

func open(ctx context.Context, path string, cfg config) (*Journal, error) {
	path, err := resolve(path)
	if err != nil {
		return nil, err
	}
	if err := checkFileSystem(path); err != nil {
		return nil, err
	}
	w, err := openWriter(ctx, path, cfg)
	if err != nil {
		return nil, err
	}
	readers, err := sql.Open("sqlite", dsn(path, "query_only(1)"))
	if err != nil {
		return nil, errors.Join(err, w.close())
	}
	n := max(4, 2*runtime.GOMAXPROCS(0))
	readers.SetMaxOpenConns(n)
	readers.SetMaxIdleConns(n)

	running, stop := context.WithCancel(context.WithoutCancel(ctx))
	j := &Journal{readers: readers, writer: w, queue: group.NewQueue[change](), stop: stop}
	j.committer.Go(func() {
		j.queue.Serve(groupWeight, func(take func() []*job) error { return w.commitGroup(running, take) })
	})
	return j, nil
}

// Close implements [journal.Journal]. What waits for its turn fails with
// [journal.ErrClosed], what is being committed ends. Close returns when that has
// ended; when a stopped process keeps others from writing, a goroutine that waits for it
// stays behind until that process goes on or dies.
func (j *Journal) Close() error {
	j.closing.Do(func() {
		j.closed.Store(true)
		j.queue.Close()
		j.stop()
		j.committer.Wait()
		j.closeErr = errors.Join(j.readers.Close(), j.writer.close())
		j.Notify()
	})
	return j.closeErr
}

// resolve returns the one absolute path under which all processes know the file, so that
// they agree on the names of the locks beside it.
func resolve(path string) (string, error) {
	if path == "" || path == ":memory:" {
		return "", fmt.Errorf("%w: %q is not a file; for a journal in memory use memory.New", journal.ErrInvalid, path)
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	if target, err := filepath.EvalSymlinks(path); err == nil {
		return target, nil
	}
	dir, err := filepath.EvalSymlinks(filepath.Dir(path))
	if errors.Is(err, os.ErrNotExist) {
		return "", fmt.Errorf("%w: the directory does not exist, create it first: %w", journal.ErrUnavailable, err)
	}
	return filepath.Join(dir, filepath.Base(path)), err
}

// dsn names the database for the driver. busy_timeout is a belt: writers queue on the
// fairLock, but a program that does not know it may hold the lock of SQLite.
func dsn(path string, pragmas ...string) string {
	query := url.Values{"_pragma": append([]string{"busy_timeout(5000)"}, pragmas...)}
	return (&url.URL{Scheme: "file", Path: filepath.ToSlash(path), RawQuery: query.Encode()}).String()
}
