package journaltest

import (
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/persistence/journal"
)

var modelLaws = []law{
	{"EveryAnswerIsThatOfTheJournalInMemory", func(e *env) {
		j := e.journal()
		e.snapshots(j)
		m := &model{
			e: e, rng: e.rand(), last: map[string]uint64{},
			subject: newSide(j), reference: newSide(journal.NewMemory()),
		}
		for range 1500 {
			m.step()
		}
	}},
}

// A model performs the same random operations on two journals and compares the answers.
type model struct {
	e                  *env
	rng                *rand.Rand
	subject, reference *side
	sent               []appendOp
	last               map[string]uint64 // the last sequence number of each id
}

// A side is one of the journals. Epochs may differ between them: the model speaks of the
// first, second, … claim of an id.
type side struct {
	journal.Journal
	journal.SnapshotStore
	epochs map[string][]uint64
}

func newSide(j journal.Journal) *side {
	return &side{Journal: j, SnapshotStore: j.(journal.SnapshotStore), epochs: map[string][]uint64{}}
}

// epoch returns the epoch of the nth claim of id; for an id that was never claimed, any epoch.
func (s *side) epoch(id string, nth int) uint64 {
	if nth < 0 {
		return 1
	}
	return s.epochs[id][nth]
}

// An appendOp can be sent to both sides, and again later.
type appendOp struct {
	id       string
	claim    int
	prev     uint64
	payloads []string
}

func (m *model) step() {
	ctx := m.e.Context()
	id := fmt.Sprint("id-", m.rng.IntN(3))
	claim, seq := m.someClaim(id), m.someSeq(id)
	switch m.rng.IntN(12) {
	case 0:
		b := m.someBounds()
		m.both("claim", func(s *side) (any, error) {
			c, err := s.Claim(ctx, id, journal.WriterID{1}, b)
			if err == nil {
				s.epochs[id] = append(s.epochs[id], c.Epoch)
			}
			return []uint64{c.Epoch >> 32, c.LastSeq, c.DeletedTo}, err
		})
	case 1, 2, 3, 4, 5:
		m.append(appendOp{id, claim, seq, numbered(fmt.Sprint(m.rng.IntN(3)), m.rng.IntN(4))})
	case 6:
		if len(m.sent) > 0 {
			m.append(m.sent[m.rng.IntN(len(m.sent))])
		}
	case 7:
		m.both("delete", func(s *side) (any, error) { return nil, s.DeleteTo(ctx, id, s.epoch(id, claim), seq/2) })
	case 8:
		m.both("save snapshot", func(s *side) (any, error) {
			return nil, s.SaveSnapshot(ctx, id, journal.Snapshot{Seq: seq, Epoch: s.epoch(id, claim), Payload: []byte{byte(seq)}})
		})
	case 9:
		keep := m.rng.IntN(3)
		m.both("delete snapshots", func(s *side) (any, error) {
			return nil, s.DeleteSnapshots(ctx, id, s.epoch(id, claim), seq, keep)
		})
	case 10:
		m.both("load snapshot", func(s *side) (any, error) {
			loaded, ok, skipped, err := s.LoadSnapshot(ctx, id, seq)
			return fmt.Sprintf("%d %x %v %v", loaded.Seq, loaded.Payload, ok, skipped), err
		})
		m.both("list snapshots", func(s *side) (any, error) {
			seqs, err := s.Snapshots(ctx, id)
			return fmt.Sprint(seqs), err
		})
	case 11:
		m.both("read", func(s *side) (any, error) {
			var got []string
			for r, err := range s.Read(ctx, id, seq/2, seq) {
				if err != nil {
					return got, err
				}
				got = append(got, fmt.Sprint(r.Seq, " ", string(r.Payload)))
			}
			return got, nil
		})
	}
}

func (m *model) append(op appendOp) {
	m.sent = append(m.sent, op)
	var err error
	m.both("append", func(s *side) (any, error) {
		err = appendOne(m.e, s, request(op.id, s.epoch(op.id, op.claim), op.prev, op.payloads...))
		return nil, err
	})
	if err == nil {
		m.last[op.id] = max(m.last[op.id], op.prev+uint64(len(op.payloads)))
	}
}

func (m *model) both(name string, f func(*side) (any, error)) {
	m.e.Helper()
	want, wantErr := f(m.reference)
	got, err := f(m.subject)
	require.Equal(m.e, want, got, name)
	require.Equal(m.e, kind(wantErr), kind(err), "%s: %v, want %v", name, err, wantErr)
}

// someClaim returns the newest claim of id or, rarely, an earlier one; -1 without claims.
func (m *model) someClaim(id string) int {
	newest := len(m.reference.epochs[id]) - 1
	if newest > 0 && m.rng.IntN(5) == 0 {
		return m.rng.IntN(newest)
	}
	return newest
}

// someBounds returns no bounds or, half of the time, the bounds of a generation. Higher generations
// come later, so that claims of most succeed.
func (m *model) someBounds() journal.Bounds {
	if m.rng.IntN(2) == 0 {
		return journal.Bounds{}
	}
	return generationBounds(uint64(len(m.sent)/100 + m.rng.IntN(3)))
}

// someSeq returns the last sequence number of id or, rarely, one near it.
func (m *model) someSeq(id string) uint64 {
	if m.rng.IntN(4) == 0 {
		return m.rng.Uint64N(m.last[id] + 3)
	}
	return m.last[id]
}

// kind returns the error of package persistence that err is.
func kind(err error) error {
	for _, is := range []error{
		journal.ErrFenced, journal.ErrConflict, journal.ErrInvalid, journal.ErrCorrupt, journal.ErrUnavailable,
	} {
		if errors.Is(err, is) {
			return is
		}
	}
	return err
}
