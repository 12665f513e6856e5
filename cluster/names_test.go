package cluster

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var badNames = map[string]string{
	"a\xff":                  "is not UTF-8",
	"a\nb":                   "has the control character U+000A",
	strings.Repeat("x", 256): "has 256 bytes, the limit is 255",
}

// Regression: a NodeID with an invalid byte made a joining node ask for ever, because no member
// could decode its requests.
func TestANodeDoesNotStartWithANameThatOthersCannotCarry(t *testing.T) {
	for name, complaint := range badNames {
		for what, c := range map[string]Config{
			"NodeID":       {NodeID: name},
			"Roles":        {Roles: []string{"good", name}},
			"Meta":         {Meta: map[string]string{name: "value"}},
			"Name":         {Name: name},
			"Leader":       {Leader: LeaderElection{Name: name, Compare: Oldest().Compare}},
			"Seeds":        {Seeds: []string{name + ":1"}},
			"Advertise":    {Advertise: name + ":1"},
			"MinMembersOf": {MinMembersOf: map[string]int{name: 1}},
		} {
			_, err := Start(t.Context(), c)
			require.ErrorContains(t, err, "Config", "%s %q", what, name)
			require.ErrorContains(t, err, what, "%s %q", what, name)
		}
		require.ErrorContains(t, Config{NodeID: name}.withDefaults().validate(), complaint)
		_, err := Dial(t.Context(), ClientConfig{Contacts: []string{name + ":1"}})
		require.ErrorContains(t, err, "ClientConfig.Contacts")
		_, err = usable([]string{"a:1", name + ":1"})
		require.ErrorContains(t, err, "Config.Discovery")
	}
	_, err := Dial(t.Context(), ClientConfig{Name: "a/b", Contacts: []string{"a:1"}})
	require.ErrorContains(t, err, `ClientConfig.Name "a/b"`)
	require.ErrorContains(t, Config{Meta: map[string]string{"key": "\xff"}}.withDefaults().validate(), `the value of "key" in the metadata is not UTF-8`)
	require.NoError(t, Config{NodeID: "Zürich 1", Roles: []string{"front/end"}, Meta: map[string]string{"note": "two\nlines"}}.withDefaults().validate())
}
