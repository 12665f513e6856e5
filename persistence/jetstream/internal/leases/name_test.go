package leases

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestNamesBecomeKeysThatDiffer(t *testing.T) {
	valid := regexp.MustCompile(`^(holder|token)\.[-_=A-Za-z0-9]+$`)
	seen := map[string]string{}
	for _, name := range []string{
		"", "=", "a", "A", "a.b", "a=2Eb", "a/b", ".", "..", "*", ">", "a b", "$", "ä", "a\u0308", "\x00", "\xff", "\xfe",
		"=00", "holder.a", strings.Repeat("日", 66),
	} {
		for _, key := range []string{holderKey(name), tokenKey(name)} {
			require.Regexp(t, valid, key)
			require.NotContains(t, seen, key, "%q and %q", name, seen[key])
			seen[key] = name
		}
	}
	require.Equal(t, "holder.a=2Fb-1_2", holderKey("a/b-1_2"))
}
