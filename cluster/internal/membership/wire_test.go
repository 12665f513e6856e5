package membership

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

func samples() []message {
	random := rand.New(rand.NewPCG(7, 8))
	whole := randomTable(random).pack()
	return []message{
		heartbeat{Cluster: ClusterID{1, 2}, Seq: 3, Stream: true, Members: 5, All: 6, Seen: []byte{7}},
		joinRequest{To: "n1:1", Name: "n2", Roles: []string{"r"}, Meta: map[string]string{"k": "v"}, Agreement: agreement{Downing: []string{"x"}, Leader: "y", Minimum: "z"}, Replaces: []uint64{1, 2}, Gone: []string{"n3:1"}, AppVersion: "1.2.3"},
		joinAnswer{To: "n1:1", Verdict: welcome, Reason: "x", Replaces: []uint64{1}, Table: whole},
		tablePull{},
		tablePush{From: ID{Address: "n1:1", Incarnation: 1}, Whole: true, Table: whole},
		youAreDown{Table: whole},
		gone{},
		goneSeen{},
		greeting{Cluster: ClusterID{1}, Size: 3},
		observe{},
		dissolve{Instead: []string{"n1:1"}},
	}
}

func TestMessagesSurviveTheWire(t *testing.T) {
	for _, msg := range samples() {
		want := envelope{from: 1, to: 2, msg: msg}
		got, err := decode(encode(want))
		require.NoError(t, err, "%T", msg)
		require.Equal(t, want, got)
	}
}

func TestEqualTablesAreEqualBytes(t *testing.T) {
	random := rand.New(rand.NewPCG(9, 10))
	for range 1000 {
		a, b := randomTable(random), randomTable(random)
		x := encode(envelope{from: 1, msg: youAreDown{Table: joined(a, b).pack()}})
		y := encode(envelope{from: 1, msg: youAreDown{Table: joined(b, a).pack()}})
		require.Equal(t, x, y)
	}
}

func TestDecodeRefusesNonsense(t *testing.T) {
	good := encode(envelope{from: 1, msg: gone{}})
	badStatus := packed{Members: []Member{{Address: "n1:1", Incarnation: 1, Status: Removed}}}
	for name, data := range map[string][]byte{
		"nothing":         nil,
		"a header alone":  good[:headerSize],
		"another version": append([]byte{99}, good[1:]...),
		"nobody":          encode(envelope{msg: gone{}}),
		"unknown kind":    append([]byte{Version, 99}, good[2:]...),
		"trailing bytes":  append(append([]byte(nil), good...), 1),
		"a bad status":    encode(envelope{from: 1, msg: youAreDown{Table: badStatus}}),
		"no address":      encode(envelope{from: 1, msg: youAreDown{Table: packed{Members: []Member{{Incarnation: 1, Status: Up}}}}}),
		"a tomb undated":  encode(envelope{from: 1, msg: youAreDown{Table: packed{Tombstones: []packedTombstone{{ID: ID{Address: "n1:1", Incarnation: 1}}}}}}),
	} {
		_, err := decode(data)
		require.ErrorIs(t, err, errMessage, name)
	}
}

func FuzzDecode(f *testing.F) {
	for _, msg := range samples() {
		f.Add(encode(envelope{from: 1, msg: msg}))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		e, err := decode(data)
		if err != nil {
			require.ErrorIs(t, err, errMessage)
			return
		}
		again, err := decode(encode(e))
		require.NoError(t, err)
		require.Equal(t, encode(e), encode(again))
	})
}

func TestWhatGoesToSeveralNodesIsOfTheGivenVersion(t *testing.T) {
	const version = 7
	self := Member{Address: "n1:1", Incarnation: 1, Status: Up}
	datagram, stream := Beat{}.Encode(1, version)
	all := [][]byte{datagram, stream, Snapshot{tablePush{From: self.ID()}}.Encode(version)}
	change := newTable(ClusterID{1})
	change.members[self.ID()] = self
	for _, entry := range (Spread{change: change}).Encode(self.ID(), version) {
		all = append(all, entry)
	}
	require.Len(t, all, 4)
	for _, data := range all {
		require.EqualValues(t, version, data[0])
	}
}
