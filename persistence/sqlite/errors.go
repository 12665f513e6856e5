package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	driver "modernc.org/sqlite"
	codes "modernc.org/sqlite/lib"

	"github.com/understudy-go/understudy/persistence/journal"
)

// Errors of [Open] for files that it cannot use.
var (
	// ErrNotJournal: the file is not an SQLite database, or belongs to another application. Give
	// the journal a file of its own.
	ErrNotJournal = errors.New("sqlite: the file is not a journal")
	// ErrNewerSchema: a later version of this package made the file. Use a newer build of the
	// program.
	ErrNewerSchema = errors.New("sqlite: the journal is newer than this program")
)

var meanings = map[int]struct {
	is   error
	hint string
}{
	codes.SQLITE_FULL:       {journal.ErrFull, "make space on the disk of the database"},
	codes.SQLITE_TOOBIG:     {journal.ErrTooLarge, "see MaxPayload"},
	codes.SQLITE_CORRUPT:    {journal.ErrCorrupt, "pages of the file are damaged"},
	codes.SQLITE_NOTADB:     {journal.ErrCorrupt, "its first page is damaged"},
	codes.SQLITE_CONSTRAINT: {journal.ErrCorrupt, "the tables contradict each other"},
	codes.SQLITE_MISMATCH:   {journal.ErrCorrupt, "the tables contradict each other"},
	codes.SQLITE_READONLY:   {journal.ErrUnavailable, "let this process write to the database file and its directory"},
	codes.SQLITE_PERM:       {journal.ErrUnavailable, "let this process write to the database file and its directory"},
	codes.SQLITE_CANTOPEN:   {journal.ErrUnavailable, "it must be a file that this process may read and write, in a directory that exists; and the process must be able to open files (ulimit -n)"},
	codes.SQLITE_BUSY:       {journal.ErrUnavailable, "another program keeps a transaction open"},
}

// storeError maps an error of the database to an error of package journal. It returns other errors
// unchanged if they already have such a meaning.
func storeError(err error) error {
	if err == nil || isJournalError(err) {
		return err
	}
	if m, ok := meanings[resultCode(err)]; ok {
		return fmt.Errorf("%w: %w: %s", m.is, err, m.hint)
	}
	return fmt.Errorf("%w: %w", journal.ErrUnavailable, err)
}

// scanError is storeError for columns: a value that does not fit into its Go type was not written
// by this package.
func scanError(err error) error {
	calledOff := errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, sql.ErrTxDone)
	if err == nil || calledOff || resultCode(err) != 0 {
		return storeError(err)
	}
	return fmt.Errorf("%w: %w", journal.ErrCorrupt, err)
}

// commitError is storeError for a commit that failed. Unless the commit certainly had no effect,
// its changes may reappear after a crash.
func commitError(err error) error {
	switch resultCode(err) {
	case codes.SQLITE_FULL, codes.SQLITE_BUSY, codes.SQLITE_READONLY:
		return storeError(err)
	}
	return fmt.Errorf("%w: commit: %w", journal.ErrUnknown, err)
}

func openError(err error) error {
	if resultCode(err) == codes.SQLITE_NOTADB {
		return fmt.Errorf("%w: %w: choose another path", ErrNotJournal, err)
	}
	if errors.Is(err, ErrNotJournal) || errors.Is(err, ErrNewerSchema) || errors.Is(err, journal.ErrCorrupt) {
		return err
	}
	if err = storeError(err); errors.Is(err, journal.ErrCorrupt) {
		return fmt.Errorf("%w; restore a backup", err)
	}
	return err
}

func resultCode(err error) int {
	var e *driver.Error
	if !errors.As(err, &e) {
		return 0
	}
	return e.Code() & 0xff
}

func isJournalError(err error) bool {
	for _, is := range []error{
		journal.ErrFenced, journal.ErrConflict, journal.ErrTooLarge, journal.ErrInvalid, journal.ErrCorrupt,
		journal.ErrUnavailable, journal.ErrFull, journal.ErrUnknown, journal.ErrClosed,
	} {
		if errors.Is(err, is) {
			return true
		}
	}
	return false
}

func wrap(op, id string, err error) error {
	if err == nil {
		return nil
	}
	return hinted(fmt.Errorf("%s %q: %w", op, id, err))
}

func hinted(err error) error {
	if _, is := errors.AsType[damage](err); is || !errors.Is(err, journal.ErrCorrupt) {
		return err
	}
	return damage{err}
}

type damage struct{ error }

func (d damage) Error() string {
	return d.error.Error() + "; Journal.Check lists all that is damaged in the file; restore a backup"
}

func (d damage) Unwrap() error { return d.error }
