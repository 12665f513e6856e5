package projection

import (
	"go.uber.org/zap"

	"github.com/understudy-go/understudy/persistence/journal"
)

// forget adds the tombstone of an id to b. What was held back of the id exists no longer.
func (w *worker[E]) forget(b *Batch[E], tombstone *journal.Entry) {
	if w.held.byID[tombstone.ID] != nil {
		delete(w.held.byID, tombstone.ID)
		w.reportHeld()
	}
	b.To = tombstone.Offset
	if !w.forgotten {
		w.log.Warn("passed over that an id was forgotten; to hear of it, give the projection the option Forgotten",
			zap.String("projection", w.name), zap.String("id", tombstone.ID))
		return
	}
	b.Events = append(b.Events, Event[E]{ID: tombstone.ID, Offset: tombstone.Offset, Time: tombstone.Record.Time, Forgotten: true})
}
