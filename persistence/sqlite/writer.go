package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"slices"

	"go.uber.org/zap"

	"github.com/understudy-go/understudy/persistence/internal/group"
	"github.com/understudy-go/understudy/persistence/journal"
)

// groupWeight bounds the size of one transaction, and thereby how long other processes wait: some
// 50 ms beside thousands of busy actors.
const groupWeight = 4096

// A change of a persistence id is applied in a transaction together with others, completely or not
// at all. It is applied again if another job of the transaction fails.
type change struct {
	id    string
	apply func(*transaction) error
	place int64 // see arrange
}

type job = group.Job[change]

// A writer is the one connection of a journal that writes. It belongs to the committer.
type writer struct {
	path  string
	file  os.FileInfo // of the database when it was opened
	fair  *fairLock
	db    *sql.DB
	conn  *sql.Conn
	stmts statements
	heads heads // after the last transaction
}

// openWriter opens the database at path, and makes it a journal if it is empty. It holds the lock,
// so that only one process does so.
func openWriter(ctx context.Context, path string, cfg config) (*writer, error) {
	fair, err := openFairLock(path, cfg)
	if err != nil {
		return nil, err
	}
	w := &writer{path: path, fair: fair, heads: heads{}}
	if err := w.open(ctx, cfg); err != nil {
		return nil, errors.Join(err, w.close())
	}
	return w, nil
}

func (w *writer) open(ctx context.Context, cfg config) (err error) {
	if err := w.fair.lock(ctx); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.fair.unlock()) }()
	if w.db, err = sql.Open("sqlite", dsn(w.path, "synchronous("+cfg.synchronous+")", "secure_delete(1)")); err != nil {
		return err
	}
	if w.conn, err = w.db.Conn(ctx); err != nil {
		return openError(err)
	}
	was, err := prepareFile(ctx, w.conn, cfg.migrations)
	if err != nil {
		return openError(err)
	}
	if now := len(cfg.migrations); was != now {
		cfg.log.Info("journal migrated", zap.String("file", w.path), zap.Int("from", was), zap.Int("to", now))
	}
	if w.file, err = os.Stat(w.path); err != nil {
		return err
	}
	return openError(w.stmts.prepare(context.WithoutCancel(ctx), w.conn)) // ctx may have ended during the migration
}

func (w *writer) close() error {
	errs := []error{w.stmts.close()}
	if w.conn != nil {
		errs = append(errs, w.conn.Close())
	}
	if w.db != nil {
		errs = append(errs, w.db.Close())
	}
	return errors.Join(append(errs, w.fair.close())...)
}

// commitGroup commits one group. It takes jobs only when it holds the lock.
func (w *writer) commitGroup(ctx context.Context, take func() []*job) error {
	if err := w.lock(ctx); err != nil {
		return err
	}
	defer w.unlock()
	jobs := take() // not before: a job that waits can be withdrawn, and is then certainly not stored
	w.arrange(jobs)
	w.run(jobs)
	return nil
}

func (w *writer) lock(ctx context.Context) error {
	if err := w.fair.lock(ctx); err != nil {
		return err
	}
	err := w.checkFile()
	if err == nil {
		err = w.begin()
	}
	if err != nil {
		return errors.Join(err, w.fair.unlock())
	}
	return nil
}

func (w *writer) checkFile() error {
	file, err := os.Stat(w.path)
	if err == nil && os.SameFile(file, w.file) {
		return nil
	}
	return fmt.Errorf("%w: %s has been deleted or replaced since it was opened; open it again", journal.ErrUnavailable, w.path)
}

// arrange sorts jobs by the places of their ids in the index of events, so that those of one page
// come together: between thousands of ids a cache of pages misses most of the time. Jobs of one id
// stay in order.
func (w *writer) arrange(jobs []*job) {
	for _, j := range jobs {
		j.Work.place = w.heads[j.Work.id].eid // 0 for all jobs of an id whose head is not known
	}
	slices.SortStableFunc(jobs, func(a, b *job) int { return cmp.Compare(a.Work.place, b.Work.place) })
}

// run applies jobs in the transaction that lock began, and commits it. If a job fails with half
// of its work done, the transaction is rolled back and the others start again without it.
func (w *writer) run(jobs []*job) {
	for {
		failed := w.apply(jobs)
		if failed < 0 {
			w.commit(jobs)
			return
		}
		jobs = slices.Delete(slices.Clone(jobs), failed, failed+1)
		w.rollback()
		if err := w.begin(); err != nil {
			group.Fail(jobs, err)
			return
		}
	}
}

// apply returns the index of the job that failed after it had changed something, or -1.
func (w *writer) apply(jobs []*job) int {
	t := &transaction{stmts: &w.stmts, heads: w.heads}
	for i, j := range jobs {
		t.dirty = false
		j.Err = j.Work.apply(t)
		if j.Err != nil && t.dirty {
			return i
		}
	}
	return -1
}

// commit commits the transaction. If that fails, all jobs fail, including refused ones: they may
// have been refused because of another job of the transaction.
func (w *writer) commit(jobs []*job) {
	if _, err := w.stmts.commit.Exec(); err != nil {
		w.rollback()
		group.Fail(jobs, commitError(err))
	}
}

func (w *writer) begin() error {
	_, err := w.stmts.begin.Exec()
	return storeError(err)
}

// rollback ignores errors: SQLite may have rolled back already.
func (w *writer) rollback() {
	_, _ = w.stmts.rollback.Exec()
	clear(w.heads)
}

func (w *writer) unlock() { _ = w.fair.unlock() }
