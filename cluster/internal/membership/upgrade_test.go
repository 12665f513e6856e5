package membership

import (
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/codec"
)

// A whole table as a newer release sends it: members have one field more, after all of [Member].
type (
	newerPush struct {
		_     struct{} `cbor:",toarray"`
		From  ID
		Whole bool
		Table newerTable
	}
	newerTable struct {
		_          struct{} `cbor:",toarray"`
		Cluster    ClusterID
		Members    []newerMember
		Tombstones []packedTombstone
		Rows       []packedRow
	}
	newerMember struct {
		_           struct{} `cbor:",toarray"`
		Name        string
		Address     string
		Incarnation uint64
		Status      Status
		UpNumber    uint64
		Roles       []string
		Meta        map[string]string
		Downing     []string
		AppVersion  string
		New         string
	}
)

func TestATableOfANewerReleaseIsRelayedWithoutItsNewFieldAndHasTheSameSums(t *testing.T) {
	a := fixedTable()
	known := a.pack()
	newer := newerTable{Cluster: known.Cluster, Tombstones: known.Tombstones, Rows: known.Rows}
	for _, m := range known.Members {
		newer.Members = append(newer.Members, newerMember{
			Name: m.Name, Address: m.Address, Incarnation: m.Incarnation, Status: m.Status, UpNumber: m.UpNumber,
			Roles: m.Roles, Meta: m.Meta, Downing: m.Downing, AppVersion: m.AppVersion, New: "new",
		})
	}
	body, err := codec.Marshal(newerPush{From: id("n1:1", 7), Whole: true, Table: newer})
	require.NoError(t, err)

	got, err := decodeBody(kindOf(tablePush{}), body)
	require.NoError(t, err)
	require.Equal(t, tablePush{From: id("n1:1", 7), Whole: true, Table: known}, got)
	require.Equal(t, a.sums(), got.(tablePush).Table.table().sums())
}

// In the next two tests, AppVersion is a field that an older release would not know.

func TestWhatANodeKnowsOfAMemberIsNotLostToAnEntryThatAnOlderReleaseHasRelayed(t *testing.T) {
	full := fixedTable()
	self := id("n1:1", 7)
	for _, status := range []Status{Joining, Up, Leaving, Down} {
		relayed := fixedTable()
		m := relayed.members[self]
		m.AppVersion, m.Status = "", status
		relayed.members[self] = m

		whole := normal(full)
		news := whole.merge(relayed)
		require.Equal(t, "1.2.3", whole.members[self].AppVersion)
		require.Equal(t, max(Up, status), whole.status(self))
		if status > Up {
			require.Equal(t, "1.2.3", news.members[self].AppVersion, "and it is spread with the news")
		} else {
			require.True(t, news.empty())
		}
	}
}

// This is why agreedV1 asks for more of a field that a later release adds.
func TestAFieldThatIsMissingFromTheFirstEntryIsNotFilledInLater(t *testing.T) {
	full := fixedTable()
	self := id("n1:1", 7)
	first := fixedTable()
	m := first.members[self]
	m.AppVersion = ""
	first.members[self] = m
	known := normal(first)
	news := known.merge(full)
	require.True(t, news.empty())
	require.Empty(t, known.members[self].AppVersion)
}

func TestAllThatAJoiningNodeSaysOfItselfIsInItsEntry(t *testing.T) {
	said := Member{
		Name: "n9", Address: "n9:1", Incarnation: 9, Roles: []string{"worker"},
		Meta: map[string]string{"zone": "a"}, AppVersion: "1.2.3",
	}
	joining := newRig(func(s *Settings) { s.Self = said }, "n1:1")
	asked := told[joinRequest](joining, "n1:1")
	require.Len(t, asked, 1)

	r := newRig(nil, "n1:1")
	answer := r.asks(said.ID(), asked[0])
	require.Equal(t, welcome, answer.Verdict)
	entry := answer.Table.table().members[said.ID()]
	said.Downing, said.Status = joining.set.Self.Downing, Joining
	require.Equal(t, said, entry)
	for _, name := range fieldsOf(reflect.TypeFor[Member]()) {
		isGiven := name == "UpNumber" // later, by the leader
		require.Equal(t, isGiven, reflect.ValueOf(entry).FieldByName(name).IsZero(), "%s: a new field must be in joinRequest, and in this test", name)
	}
}
