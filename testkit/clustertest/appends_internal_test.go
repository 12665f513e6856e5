//go:build !quick

package clustertest

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestEntriesThatAreLostRepeatedOrOutOfOrderAreFound(t *testing.T) {
	for _, c := range []struct {
		entries, acknowledged []string
		wrong                 string
	}{
		{[]string{"a", "x", "b"}, []string{"a", "b"}, ""},
		{nil, nil, ""},
		{[]string{"a"}, []string{"a", "b"}, "acknowledged entry b is lost"},
		{[]string{"b", "a"}, []string{"a", "b"}, "entry b is before an earlier one"},
		{[]string{"a", "x", "x"}, []string{"a"}, "entry x is there twice"},
	} {
		err := keeps(c.entries, c.acknowledged)
		if c.wrong == "" {
			require.NoError(t, err)
		} else {
			require.EqualError(t, err, c.wrong)
		}
	}
}
