package receptionist_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor/receptionist"
)

// A name with one bad byte kept the receptionist of a node from telling others anything, for
// good.
func TestAServiceHasANameThatOtherNodesCanCarry(t *testing.T) {
	for name, complaint := range map[string]string{
		"":                        `receptionist: the name "" of a service is empty`,
		"a\xff":                   `receptionist: the name "a\xff" of a service is not UTF-8`,
		"a\x00":                   `receptionist: the name "a\x00" of a service has the control character U+0000`,
		strings.Repeat("x", 1025): `receptionist: the name "` + strings.Repeat("x", 1025) + `" of a service has 1025 bytes, the limit is 1024`,
	} {
		require.PanicsWithValue(t, complaint, func() { receptionist.NewKey[int](name) })
	}
	require.Equal(t, "köln/1", receptionist.NewKey[int]("köln/1").Name())
}
