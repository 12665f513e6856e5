package membership

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTablesThatAreTooMuchAreRefused(t *testing.T) {
	long := strings.Repeat("x", maxText+1)
	good := Member{Name: "n1", Address: "n1:1", Incarnation: 1, Status: Up, UpNumber: 1}
	with := func(change func(*Member)) packed {
		m := good
		change(&m)
		return packed{Members: []Member{m}}
	}
	one := id("n1:1", 1)
	for want, p := range map[string]packed{
		"name of 4097 bytes":            with(func(m *Member) { m.Name = long }),
		"address of 256 bytes":          with(func(m *Member) { m.Address = long[:256] }),
		"address of 0 bytes":            {Rows: []packedRow{{ID: ID{Incarnation: 1}}}},
		"no incarnation":                {Rows: []packedRow{{ID: ID{Address: "n1:1"}}}},
		"text of 4097 bytes":            with(func(m *Member) { m.Roles = []string{long} }),
		"101 roles":                     with(func(m *Member) { m.Roles = make([]string, 101) }),
		"metadata of 4098 bytes":        with(func(m *Member) { m.Meta = map[string]string{"k": long} }),
		"101 entries":                   with(func(m *Member) { m.Meta = manyEntries(101) }),
		"number 18446744073709551615":   with(func(m *Member) { m.UpNumber = math.MaxUint64 }),
		"n1:1#1 after n1:1#1":           {Members: []Member{good, good}},
		"n1:1#1 after n2:1#1":           {Members: []Member{{Address: "n2:1", Incarnation: 1, Status: Up}, good}},
		"tomb: n1:1#1 after n1:1#1":     {Tombstones: []packedTombstone{{ID: one, At: 1}, {ID: one, At: 2}}},
		"tomb: number 9223372036854775": {Tombstones: []packedTombstone{{ID: one, At: 1, UpNumber: 1 << 63}}},
		"row: number 9223372036854775":  {Rows: []packedRow{{ID: one, Version: 1 << 63}}},
		"row: no incarnation":           {Rows: []packedRow{{ID: one, Unreachable: []ID{{Address: "n2:1"}}}}},
		"table is too large":            {Members: make([]Member, MaxMembers), Tombstones: make([]packedTombstone, 1)},
	} {
		text := want
		if _, after, found := strings.Cut(want, ": "); found {
			text = after // the text before it is the place of the error
		}
		_, err := decode(encode(envelope{from: 1, msg: youAreDown{Table: p}}))
		require.ErrorIs(t, err, errMessage, want)
		require.ErrorContains(t, err, text, want)
	}
}

func manyEntries(n int) map[string]string {
	all := map[string]string{}
	for i := range n {
		all[fmt.Sprint(i)] = ""
	}
	return all
}

func TestMessagesThatAreTooMuchAreRefused(t *testing.T) {
	long := strings.Repeat("x", maxText+1)
	for name, msg := range map[string]message{
		"a long name":        joinRequest{Name: long},
		"long rules":         joinRequest{Agreement: agreement{Leader: long}},
		"a long question":    joinRequest{To: long},
		"many that are gone": joinRequest{Gone: make([]string, MaxMembers+1)},
		"a long one gone":    joinRequest{Gone: []string{long}},
		"many incarnations":  joinRequest{Replaces: make([]uint64, MaxMembers+1)},
		"many replaced":      joinAnswer{Replaces: make([]uint64, MaxMembers+1)},
		"a long reason":      joinAnswer{Reason: long},
		"a long home":        dissolve{Instead: []string{long}},
		"many homes":         dissolve{Instead: make([]string, MaxMembers+1)},
		"a bad answer table": joinAnswer{Table: packed{Members: []Member{{}}}},
	} {
		_, err := decode(encode(envelope{from: 1, msg: msg}))
		require.ErrorIs(t, err, errMessage, name)
	}
}
