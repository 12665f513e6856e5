package generations

import (
	"context"
	"time"
)

// The log is shortened like a log-structured file system: the current entries of its oldest part
// are appended again at its end, and then that part is deleted. (Rosenblum and Ousterhout, "The
// Design and Implementation of a Log-Structured File System", 1991.) The newest entry of each label
// is in the log at every moment, so shortening may be interrupted anywhere.
const (
	// defaultCompactAfter is how many records the log may have beyond two for each label.
	defaultCompactAfter = 4096
	// tidyEntries is how many entries are moved at a time. A batch adds fewer, so the log gets
	// shorter under any load.
	tidyEntries = 2 * maxBatch
	// tidyBytes bounds the total size of the specs in one append of moved entries, unless a
	// single spec is larger.
	tidyBytes = 64 << 10
	// tidyTimeout bounds shortening when the journal does not answer.
	tidyTimeout = 10 * time.Second
)

// tidy shortens the log if it is too long. If it fails, the next call tries again.
func (l *log) tidy() {
	if !l.tooLong() {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), tidyTimeout)
	defer cancel()
	for left := min(tidyEntries, l.ledger.byAt.Len()); left > 0; {
		entries := l.oldest(left)
		if stored, err := l.add(ctx, entries); err != nil || !stored {
			return
		}
		left -= len(entries)
	}
	l.cut(ctx)
}

// tooLong reports whether the log has more records than it may have.
func (l *log) tooLong() bool {
	return l.epoch != 0 && l.last-l.deletedTo > l.compactAfter+2*uint64(l.ledger.byAt.Len())
}

// oldest returns up to n of the oldest entries, as many as one append may store.
func (l *log) oldest(n int) (entries []entry) {
	size := 0
	for r := range l.ledger.oldest() {
		size += len(r.Spec)
		if len(entries) == n || len(entries) > 0 && size > tidyBytes {
			break
		}
		entries = append(entries, r.entry)
	}
	return entries
}

// cut deletes the records before the oldest entry. It keeps the newest records, because a source
// that has lost an answer looks for them.
func (l *log) cut(ctx context.Context) {
	to := l.last - min(l.last, l.compactAfter/2)
	for r := range l.ledger.oldest() {
		to = min(to, r.at-1)
		break
	}
	if l.journal.DeleteTo(ctx, logID, l.epoch, to) == nil {
		l.deletedTo = to
	}
}
