package generation

import (
	"context"
	"time"
)

// How a log is kept short: as the cleaner of a log-structured file system does, what still
// holds of its oldest part is added again, and that part deleted. (Rosenblum and Ousterhout,
// "The Design and Implementation of a Log-Structured File System", 1991.) At any moment the
// newest entry of each label is in what is not deleted, so it may be broken off anywhere.
const (
	// defaultSlack is how many records there may be, beside two for each label.
	defaultSlack = 4096
	// tidyEntries is how many entries are moved at a time. It is more than a batch adds, so
	// that the log gets shorter whatever is added.
	tidyEntries = 2 * maxBatch
	// tidyBytes bounds the specs that are stored by one append of moved entries, unless one
	// alone is larger.
	tidyBytes = 64 << 10
	// tidyPatience bounds it when the journal does not answer.
	tidyPatience = 10 * time.Second
)

// tidy shortens a log that is too long. What fails is left to the next time.
func (l *log) tidy() {
	if !l.tooLong() {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), tidyPatience)
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
	return l.epoch != 0 && l.last-l.deletedTo > l.slack+2*uint64(l.ledger.byAt.Len())
}

// oldest returns up to n of the oldest entries, and no more than may be stored by one append.
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

// cut deletes what no longer holds, but for the newest records: who has lost an answer looks
// for them.
func (l *log) cut(ctx context.Context) {
	to := l.last - min(l.last, l.slack/2)
	for r := range l.ledger.oldest() {
		to = min(to, r.at-1)
		break
	}
	if l.journal.DeleteTo(ctx, logID, l.epoch, to) == nil {
		l.deletedTo = to
	}
}
