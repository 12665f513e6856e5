package persistence_test

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/persistence"
)

func sample() persistence.Record {
	return persistence.Record{
		Seq: 7, Epoch: 3, Writer: persistence.WriterID{1, 2, 3},
		Time: time.Date(2026, 11, 20, 12, 0, 0, 123456789, time.UTC),
		Type: "counter.incremented",
		Tags: []string{"red", "blue"}, Meta: map[string]string{"trace": "abc", "user": "eve"},
		Payload: []byte{0xa1, 0x01, 0x02},
	}
}

func TestChecksumCoversEveryField(t *testing.T) {
	changes := map[string]func(*persistence.Record){
		"seq":          func(r *persistence.Record) { r.Seq++ },
		"epoch":        func(r *persistence.Record) { r.Epoch++ },
		"writer":       func(r *persistence.Record) { r.Writer[15]++ },
		"seconds":      func(r *persistence.Record) { r.Time = r.Time.Add(time.Second) },
		"nanoseconds":  func(r *persistence.Record) { r.Time = r.Time.Add(1) },
		"type":         func(r *persistence.Record) { r.Type += "!" },
		"tag":          func(r *persistence.Record) { r.Tags[1] = "bluE" },
		"order":        func(r *persistence.Record) { slices.Reverse(r.Tags) },
		"fewer tags":   func(r *persistence.Record) { r.Tags = r.Tags[:1] },
		"joined tags":  func(r *persistence.Record) { r.Tags = []string{"redblue"} },
		"meta value":   func(r *persistence.Record) { r.Meta["user"] = "bob" },
		"meta key":     func(r *persistence.Record) { delete(r.Meta, "user"); r.Meta["use"] = "reve" },
		"payload":      func(r *persistence.Record) { r.Payload[2] ^= 1 },
		"payload tail": func(r *persistence.Record) { r.Payload = append(r.Payload, 0) },
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

	bare := persistence.Record{Seq: 1, Epoch: 1}
	empty := persistence.Record{Seq: 1, Epoch: 1, Tags: []string{}, Meta: map[string]string{}, Payload: []byte{}}
	require.Equal(t, bare.Checksum("x"), empty.Checksum("x"))
}

func TestChecksumOfASnapshotCoversEveryField(t *testing.T) {
	snapshot := func() persistence.Snapshot {
		return persistence.Snapshot{Seq: 7, Epoch: 3, Time: time.Unix(1, 2), Type: "count", Payload: []byte{1, 2}}
	}
	changes := map[string]func(*persistence.Snapshot){
		"seq":     func(s *persistence.Snapshot) { s.Seq++ },
		"epoch":   func(s *persistence.Snapshot) { s.Epoch++ },
		"time":    func(s *persistence.Snapshot) { s.Time = s.Time.Add(1) },
		"type":    func(s *persistence.Snapshot) { s.Type = "coun" },
		"payload": func(s *persistence.Snapshot) { s.Payload[0] ^= 128 },
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
		sum := (&persistence.Record{Type: typ, Tags: []string{tag}, Meta: map[string]string{key: value}}).Checksum(id)
		moved := []uint32{
			(&persistence.Record{Tags: []string{typ, tag}, Meta: map[string]string{key: value}}).Checksum(id),
			(&persistence.Record{Type: typ, Tags: []string{tag, key, value}}).Checksum(id),
			(&persistence.Record{Type: typ, Tags: []string{tag}, Meta: map[string]string{key: value}}).Checksum(id + "\x00"),
			(&persistence.Record{Type: typ, Tags: []string{tag}, Meta: map[string]string{key: value}, Payload: []byte{0}}).Checksum(id),
		}
		for i, other := range moved {
			require.NotEqual(t, sum, other, "move %d", i)
		}
	})
}
