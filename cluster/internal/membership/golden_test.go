package membership

import (
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/golden"
)

// fixedTable has one of each entry.
func fixedTable() table {
	t := newTable(ClusterID{1, 2, 3})
	m := Member{
		Name: "n1", Address: "n1:1", Incarnation: 7, Status: Up, UpNumber: 1,
		Roles: []string{"worker"}, Meta: map[string]string{"zone": "a"}, Downing: []string{"keep-majority"}, AppVersion: "1.2.3",
	}
	t.members[m.ID()] = m
	t.rows[m.ID()] = row{Version: 3, Unreachable: []ID{{Address: "n2:1", Incarnation: 8}}}
	t.tombstones[ID{Address: "n3:1", Incarnation: 9}] = tombstone{Name: "n3", UpNumber: 2, Clean: true, At: 1_700_000_000, Roles: []string{"x"}}
	return t
}

// The sums are part of the protocol, too: members that compute them differently never agree.
func TestNoMessageAndNoSumChangesItsEncoding(t *testing.T) {
	whole := fixedTable().pack()
	for _, msg := range []message{
		heartbeat{Cluster: ClusterID{1, 2}, Seq: 3, Stream: true, Members: 5, All: 6, Seen: []byte{7}},
		joinRequest{
			To: "n1:1", Name: "n2", Roles: []string{"r"}, Meta: map[string]string{"k": "v"},
			Agreement: agreement{Downing: []string{"x"}, Leader: "y", Minimum: "z"}, Replaces: []uint64{1, 2}, Gone: []string{"n3:1"}, AppVersion: "1.2.3",
		},
		joinAnswer{To: "n1:1", Verdict: welcome, Reason: "x", Replaces: []uint64{1}, Table: whole, Names: []string{"n1:1"}, Grants: true},
		tablePull{},
		tablePush{From: ID{Address: "n1:1", Incarnation: 1}, Whole: true, Table: whole},
		youAreDown{Table: whole},
		gone{},
		goneSeen{},
		greeting{Cluster: ClusterID{1}, Size: 3},
		dissolve{Instead: []string{"n1:1"}},
		observe{},
	} {
		name := strings.TrimPrefix(fmt.Sprintf("%T", msg), "membership.")
		made := encode(envelope{from: 1, to: 2, msg: msg})
		want := golden.Hex(t, name, func() []byte { return made })
		require.Equal(t, want, made, "%s: an encoding must not change: add a kind, a field at the end, or a version", name)
		got, err := decode(want)
		require.NoError(t, err, name)
		require.Equal(t, msg, got.msg)
	}
	sums := fixedTable().sums()
	for name, sum := range map[string]uint64{"sum-of-members": sums.members, "sum-of-all": sums.all} {
		made := binary.BigEndian.AppendUint64(nil, sum)
		require.Equal(t, golden.Hex(t, name, func() []byte { return made }), made, name)
	}
}

// A newer release may add a field at the end of a message: this one ignores it.
func TestAFieldThatANewerReleaseAddsIsIgnored(t *testing.T) {
	data := encode(envelope{from: 1, msg: greeting{Cluster: ClusterID{1}, Size: 3}})
	require.Equal(t, byte(0x82), data[headerSize], "an array of two")
	longer := append(append([]byte(nil), data...), 0x63, 'n', 'e', 'w')
	longer[headerSize] = 0x83
	got, err := decode(longer)
	require.NoError(t, err)
	require.Equal(t, greeting{Cluster: ClusterID{1}, Size: 3}, got.msg)
	shorter := data[:len(data)-1]
	shorter[headerSize] = 0x81
	got, err = decode(shorter)
	require.NoError(t, err)
	require.Equal(t, greeting{Cluster: ClusterID{1}}, got.msg, "and a missing one is zero")
}

func TestAKindThatThisReleaseDoesNotKnowIsNamed(t *testing.T) {
	data := encode(envelope{from: 1, msg: gone{}})
	data[1] = 99
	_, err := decode(data)
	var unknown *UnknownKindError
	require.ErrorAs(t, err, &unknown)
	require.Equal(t, byte(99), unknown.Kind)
	require.EqualError(t, err, "cluster: malformed message: of unknown kind 99")
}
