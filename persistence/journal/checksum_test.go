package journal_test

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/persistence/journal"
)

func sample() journal.Record {
	return journal.Record{
		Seq: 7, Epoch: 3, Writer: journal.WriterID{1, 2, 3},
		Time: time.Date(2026, 11, 20, 12, 0, 0, 123456789, time.UTC),
		Type: "counter.incremented",
		Tags: []string{"red", "blue"}, Meta: map[string]string{"trace": "abc", "user": "eve"},
		Payload: []byte{0xa1, 0x01, 0x02},
	}
}

func TestChecksumCoversEveryField(t *testing.T) {
	changes := map[string]func(*journal.Record){
		"seq":          func(r *journal.Record) { r.Seq++ },
		"epoch":        func(r *journal.Record) { r.Epoch++ },
		"writer":       func(r *journal.Record) { r.Writer[15]++ },
		"seconds":      func(r *journal.Record) { r.Time = r.Time.Add(time.Second) },
		"nanoseconds":  func(r *journal.Record) { r.Time = r.Time.Add(1) },
		"type":         func(r *journal.Record) { r.Type += "!" },
		"tag":          func(r *journal.Record) { r.Tags[1] = "bluE" },
		"order":        func(r *journal.Record) { slices.Reverse(r.Tags) },
		"fewer tags":   func(r *journal.Record) { r.Tags = r.Tags[:1] },
		"joined tags":  func(r *journal.Record) { r.Tags = []string{"redblue"} },
		"meta value":   func(r *journal.Record) { r.Meta["user"] = "bob" },
		"meta key":     func(r *journal.Record) { delete(r.Meta, "user"); r.Meta["use"] = "reve" },
		"payload":      func(r *journal.Record) { r.Payload[2] ^= 1 },
		"payload tail": func(r *journal.Record) { r.Payload = append(r.Payload, 0) },
	}
	whole := sample()
	sum := whole.Checksum("counter-1")
	require.NotEqual(t, sum, whole.Checksum("counter-2"))
	for name, change := range changes {
		r := sample()
		change(&r)
		require.NotEqual(t, sum, r.Checksum("counter-1"), name)
	}
}

func TestChecksumIgnoresWhatJournalsDoNotKeep(t *testing.T) {
	r := sample()
	sum := r.Checksum("x")
	r.Time = r.Time.In(time.FixedZone("here", 3600))
	require.Equal(t, sum, r.Checksum("x"))

	bare := journal.Record{Seq: 1, Epoch: 1}
	empty := journal.Record{Seq: 1, Epoch: 1, Tags: []string{}, Meta: map[string]string{}, Payload: []byte{}}
	require.Equal(t, bare.Checksum("x"), empty.Checksum("x"))
}

func TestChecksumOfASnapshotCoversEveryField(t *testing.T) {
	snapshot := func() journal.Snapshot {
		return journal.Snapshot{Seq: 7, Epoch: 3, Time: time.Unix(1, 2), Type: "count", Payload: []byte{1, 2}}
	}
	changes := map[string]func(*journal.Snapshot){
		"seq":     func(s *journal.Snapshot) { s.Seq++ },
		"epoch":   func(s *journal.Snapshot) { s.Epoch++ },
		"time":    func(s *journal.Snapshot) { s.Time = s.Time.Add(1) },
		"type":    func(s *journal.Snapshot) { s.Type = "coun" },
		"payload": func(s *journal.Snapshot) { s.Payload[0] ^= 128 },
	}
	whole := snapshot()
	sum := whole.Checksum("x")
	require.NotEqual(t, sum, whole.Checksum("y"))
	for name, change := range changes {
		s := snapshot()
		change(&s)
		require.NotEqual(t, sum, s.Checksum("x"), name)
	}
}

func TestChecksumSeesEverySingleBitFlip(t *testing.T) {
	r := sample()
	r.Payload = make([]byte, 4096)
	sum := r.Checksum("x")
	for range 1000 {
		bit := rand.IntN(8 * len(r.Payload))
		r.Payload[bit/8] ^= 1 << (bit % 8)
		require.NotEqual(t, sum, r.Checksum("x"), "bit %d", bit)
		r.Payload[bit/8] ^= 1 << (bit % 8)
	}
}

// Strings move between neighbouring fields: the encoding that is summed must tell where
// one ends.
func FuzzChecksumTellsNeighboursApart(f *testing.F) {
	f.Add("counter", "1", "", "a", "b")
	f.Add("", "", "", "", "")
	f.Fuzz(func(t *testing.T, id, typ, tag, key, value string) {
		sum := (&journal.Record{Type: typ, Tags: []string{tag}, Meta: map[string]string{key: value}}).Checksum(id)
		moved := []uint32{
			(&journal.Record{Tags: []string{typ, tag}, Meta: map[string]string{key: value}}).Checksum(id),
			(&journal.Record{Type: typ, Tags: []string{tag, key, value}}).Checksum(id),
			(&journal.Record{Type: typ, Tags: []string{tag}, Meta: map[string]string{key: value}}).Checksum(id + "\x00"),
			(&journal.Record{Type: typ, Tags: []string{tag}, Meta: map[string]string{key: value}, Payload: []byte{0}}).Checksum(id),
		}
		for i, other := range moved {
			require.NotEqual(t, sum, other, "move %d", i)
		}
	})
}
