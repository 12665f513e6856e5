package membership

import (
	"encoding/binary"
	"reflect"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/golden"
)

// agreedTables are tables whose sums are in golden files.
func agreedTables() map[string]table {
	empty := newTable(ClusterID{1})

	statuses := newTable(ClusterID{2})
	for s := Joining; s <= Down; s++ {
		m := Member{Name: s.String(), Address: s.String() + ":1", Incarnation: uint64(s) << 40, Status: s, UpNumber: uint64(s - Joining)}
		statuses.members[m.ID()] = m
	}

	// nil and empty are not the same bytes.
	containers := newTable(ClusterID{3})
	for _, m := range []Member{
		{Name: "nil", Address: "n1:1", Incarnation: 1, Status: Up, UpNumber: 1},
		{Name: "empty", Address: "n2:1", Incarnation: 2, Status: Up, UpNumber: 2, Roles: []string{}, Meta: map[string]string{}, Downing: []string{}},
		{Name: "full", Address: "n3:1", Incarnation: 3, Status: Up, UpNumber: 3, Roles: []string{"a", "b"}, Meta: map[string]string{"zone": "a", "a": ""}, Downing: []string{"x", "y"}, AppVersion: "v1"},
	} {
		containers.members[m.ID()] = m
	}
	containers.rows[id("n1:1", 1)] = row{Version: 1}
	containers.rows[id("n2:1", 2)] = row{Version: 1 << 40, Unreachable: []ID{}}
	containers.rows[id("n3:1", 3)] = row{Version: 3, Unreachable: []ID{id("n1:1", 1), id("n2:1", 2)}}

	strangers := newTable(ClusterID{4})
	strangers.members[id("n1:1", 1)] = Member{Name: "n1", Address: "n1:1", Incarnation: 1, Status: Up, UpNumber: 1}
	strangers.rows[id("n2:1", 2)] = row{Version: 1}
	strangers.tombstones[id("n3:1", 3)] = tombstone{Name: "n3", At: 1}

	return map[string]table{"empty": empty, "statuses": statuses, "containers": containers, "strangers": strangers, "fixed": fixedTable()}
}

func TestTheSumsOfVersion1NeverChange(t *testing.T) {
	for name, table := range agreedTables() {
		sums := table.sums()
		made := binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(nil, sums.members), sums.all)
		require.Equal(t, golden.Hex(t, "sums-1-"+name, func() []byte { return made }), made, name)
	}
}

// A new field belongs into the list of those that are not agreed on: what version 1 agrees on never
// changes. agreedV1 says what else a new field needs.
func TestEachFieldIsAgreedOnInVersion1OrNot(t *testing.T) {
	for _, c := range []struct {
		of, frozen  reflect.Type
		agreed, not []string
	}{
		{
			of: reflect.TypeFor[Member](), frozen: reflect.TypeFor[agreedMemberV1](),
			agreed: []string{"Name", "Address", "Incarnation", "Status", "UpNumber", "Roles", "Meta", "Downing", "AppVersion"},
		},
		{of: reflect.TypeFor[row](), agreed: []string{"Version", "Unreachable"}},
		{of: reflect.TypeFor[packedRow](), frozen: reflect.TypeFor[agreedRowV1](), agreed: []string{"ID", "Version", "Unreachable"}},
		{of: reflect.TypeFor[table](), agreed: []string{"cluster", "members", "rows"}, not: []string{"tombstones"}},
		{of: reflect.TypeFor[ID](), frozen: reflect.TypeFor[ID](), agreed: []string{"Address", "Incarnation"}},
	} {
		require.ElementsMatch(t, slices.Concat(c.agreed, c.not), fieldsOf(c.of), "%v: a new field is not agreed on, see agreedV1", c.of)
		if c.frozen != nil {
			require.Equal(t, c.agreed, fieldsOf(c.frozen), "%v never changes", c.frozen)
		}
	}
}

func TestTheSumsOfVersion1DependOnEachFieldOfAMember(t *testing.T) {
	a := fixedTable()
	self := id("n1:1", 7)
	before, original := a.sums(), a.members[self]
	for _, name := range fieldsOf(reflect.TypeFor[agreedMemberV1]()) {
		m := original
		reflect.ValueOf(&m).Elem().FieldByName(name).SetZero()
		a.members[self] = m
		require.NotEqual(t, before.members, a.sums().members, name)
	}
	a.members[self] = original
	require.Equal(t, before, a.sums())
}

func fieldsOf(t reflect.Type) []string {
	var names []string
	for field := range t.Fields() {
		if field.Name != "_" {
			names = append(names, field.Name)
		}
	}
	return names
}
