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

	"go.uber.org/zap"

	"github.com/understudy-go/understudy/internal/options"
	"github.com/understudy-go/understudy/persistence/internal/group"
	"github.com/understudy-go/understudy/persistence/journal"
)

const openPatience = 10 * time.Second

var (
	_ journal.Journal       = (*Journal)(nil)
	_ journal.SnapshotStore = (*Journal)(nil)
	_ journal.EventReader   = (*Journal)(nil)
	_ journal.AsyncJournal  = (*Journal)(nil)
	_ journal.TimerStore    = (*Journal)(nil)
	_ journal.Forgetter     = (*Journal)(nil)
	_ journal.Retainer      = (*Journal)(nil)
)

// A Journal is a [journal.Journal] in an SQLite database. It also is a [journal.SnapshotStore], a
// [journal.EventReader], a [journal.TimerStore], a [journal.Forgetter] and a [journal.Retainer].
// Create one with [Open]. Its methods may be called from any goroutine.
type Journal struct {
	journal.Notifier

	readers   *sql.DB
	timers    atomic.Pointer[sql.Stmt] // selectTimers on readers, which close it; nil before the first use
	searches  searches
	writer    *writer
	queue     *group.Queue[change]
	stop      context.CancelFunc // ends the wait for the lock
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
	log             *zap.Logger
	migrations      []string
}

// Logger sets the logger. [Open] logs when it creates the tables or migrates them to the version of
// this package. Without this option, and with nil, nothing is logged.
func Logger(log *zap.Logger) Option {
	return func(c *config) {
		if log != nil {
			c.log = log
		}
	}
}

// ProcessSafe gives up durability for speed: commits are not synced to the disk. They survive a
// crash of the process; a crash of the machine may lose the last ones, but does not damage the
// database. Without this option no acknowledged commit is lost.
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

// Open opens the journal in the file at path, and creates it if it does not exist. The directory
// must exist; SQLite and the journal keep further files in it: path-wal, path-shm, path.turn and
// path.mu. Any number of processes of one machine may have the journal open. Open waits up to 10 s
// for writes of other processes.
//
// If an earlier version of this package has made the file, Open brings its tables to this version,
// in one transaction. This may take longer than 10 s; other processes that open the file meanwhile
// may fail with [journal.ErrUnavailable]. There is no way back: make a backup before an upgrade. A
// process that has the file open continues with the statements of its own version.
//
// Open fails with [ErrNotJournal] if the file is not a journal, with [ErrNewerSchema] if a later
// version of this package has made it, and with [journal.ErrUnavailable] if it cannot be used now.
func Open(path string, opts ...Option) (*Journal, error) {
	cfg := config{synchronous: "FULL", log: zap.NewNop(), migrations: migrations}
	if err := options.Apply(&cfg, opts); err != nil {
		return nil, fmt.Errorf("open %s: %w", path, err)
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
	w.fair.turn.blocked, w.fair.mutex.blocked = j.queue.Blocked, j.queue.Blocked
	j.committer.Go(func() {
		j.queue.Serve(groupWeight, func(take func() []*job) error { return w.commitGroup(running, take) })
	})
	return j, nil
}

// Close implements [journal.Journal]. Queued requests fail with [journal.ErrClosed]; Close waits
// for the current commit. If a stopped process holds the lock, one goroutine keeps waiting for it
// until that process continues or dies.
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

// resolve returns the absolute path of the file without symbolic links, so that all processes use
// the same lock files.
func resolve(path string) (string, error) {
	if path == "" || path == ":memory:" {
		return "", fmt.Errorf("%w: %q is not a file; for a journal in memory use journal.NewMemory", journal.ErrInvalid, path)
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

// dsn names the database for the driver. busy_timeout is a safety net: writers queue on the
// fairLock, but a program that does not use it may hold the lock of SQLite.
func dsn(path string, pragmas ...string) string {
	query := url.Values{"_pragma": append([]string{"busy_timeout(5000)"}, pragmas...)}
	return (&url.URL{Scheme: "file", Path: filepath.ToSlash(path), RawQuery: query.Encode()}).String()
}
