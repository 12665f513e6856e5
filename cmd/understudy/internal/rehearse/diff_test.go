package rehearse

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestADifferenceHasAPathAndAPattern(t *testing.T) {
	for _, c := range []struct {
		old, now string
		want     []difference
	}{
		{`{"A":1,"B":{"[x]":[1,2]}}`, `{"A":1,"B":{"[x]":[1,2]}}`, nil},
		{`{"A":1}`, `{"A":2}`, []difference{{path: "A", pattern: "A", old: json.Number("1"), now: json.Number("2")}}},
		{`{"A":{"[x]":{"N":1}}}`, `{"A":{"[x]":{"N":2}}}`, []difference{{path: "A[x].N", pattern: "A[].N", old: json.Number("1"), now: json.Number("2")}}},
		{`[1]`, `[1,2]`, []difference{{path: "[1]", pattern: "[]", now: json.Number("2")}}},
		{`{"A":{"[x]":1}}`, `{"A":{}}`, []difference{{path: "A[x]", pattern: "A[]", old: json.Number("1")}}},
		{`{"A":{}}`, `{"A":{"[x]":null}}`, nil},
		{`{"A":1}`, `{"A":1,"B":2}`, nil},          // a new field
		{`{"A":0,"B":[],"C":{"D":""}}`, `{}`, nil}, // fields that were never set
		{`{"A":7}`, `{"B":7}`, nil}, // another name in Go
		{`{"A":7}`, `{"B":8}`, []difference{{path: "A", pattern: "A", old: json.Number("7"), gone: true}}},
		{`null`, `0`, []difference{{old: nil, now: json.Number("0")}}},
		{`[]`, `{}`, nil},
		{`[1]`, `{"[1]":true}`, []difference{{old: []any{json.Number("1")}, now: map[string]any{"[1]": true}}}},
	} {
		require.Equal(t, c.want, diff([]byte(c.old), []byte(c.now), false), "%s %s", c.old, c.now)
	}
	require.Len(t, diff([]byte(`{"A":7}`), []byte(`{"B":7}`), true), 2)
}

func TestWhichKindsReadWhichOthers(t *testing.T) {
	for _, c := range []struct {
		from, to string
		want     fit
	}{
		{"int8", "int64", all},
		{"int64", "int8", some},
		{"uint8", "int16", all},
		{"uint8", "int8", some},
		{"int8", "uint64", some},
		{"int64", "float64", all},
		{"float64", "int64", no},
		{"float32", "float64", all},
		{"float64", "float32", some},
		{"text", "bytes", no},
		{"text", "int64", no},
		{"bool", "bool", all},
		{"list", "map", no},
		{"struct", "map", no},
		{"time", "text", all},
		{"text", "time", some},
		{"int64", "any", all},
		{"any", "int64", some},
		{"text", "own", all},
	} {
		require.Equal(t, c.want, readable(c.from, c.to), "%s to %s", c.from, c.to)
	}
}

func TestTheFieldOfAPathIsFoundInAForm(t *testing.T) {
	var f form
	require.NoError(t, json.Unmarshal([]byte(`{"kind":"struct","fields":[{"name":"A","form":{"kind":"list","elem":{"kind":"struct","fields":[{"name":"B","form":{"kind":"text"}}]}}}]}`), &f))
	for path, want := range map[string]bool{"": true, "A": true, "a": true, "A[]": true, "A[].B": true, "A[].C": false, "C": false} {
		require.Equal(t, want, has(&f, path), path)
	}
}

func TestIDsAreDividedIntoBatches(t *testing.T) {
	large := []stored{{"a", batchEvents}, {"b", 1}, {"c", batchEvents - 1}, {"d", 1}}
	require.Equal(t, [][]string{{"a"}, {"b", "c"}, {"d"}}, divided(large))
	require.Len(t, divided(make([]stored, batchIDs+1)), 2)
	require.Empty(t, divided(nil))
}

func TestANoteAboutAProblemIsPartOfIt(t *testing.T) {
	f := newFindings()
	f.problem("field", "a", "B", "renamed", Example{})
	for _, id := range []string{"1", "1", "2", "3", "4"} {
		f.note("field", "a", "B", "gone", Example{ID: id})
	}
	f.note("field", "a", "C", "gone", Example{})
	f.merge()
	require.Len(t, f.notes, 1)
	one := sorted(f.problems)[0]
	require.Equal(t, []any{"field:a:B", 4, 3, "renamed"}, []any{one.Key, one.IDs, len(one.Examples), one.Text})
}
