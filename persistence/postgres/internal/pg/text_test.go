package pg_test

import (
	"strings"
	"testing"
	"testing/quick"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/persistence/postgres/internal/pg"
)

func TestAnyTextIsStoredAsTextAndComesBack(t *testing.T) {
	comesBack := func(text string) bool {
		stored := pg.Escape(text)
		back, err := pg.Unescape(stored)
		return err == nil && back == text && utf8.ValidString(stored) && !strings.Contains(stored, "\x00")
	}
	for _, text := range []string{"", "a", "ä\u0308", `\`, `\\`, "\x00", `\00`, "\xff", `\ff`, "\uFFFD", "日\xe6\x97"} {
		require.True(t, comesBack(text), "%q", text)
	}
	require.NoError(t, quick.Check(func(bytes []byte) bool { return comesBack(string(bytes)) }, nil))
	require.Equal(t, "plain text, 日本", pg.Escape("plain text, 日本"))
}

func TestWhatWasNotEscapedIsRefused(t *testing.T) {
	for _, text := range []string{`\`, `\0`, `\xyz`, `a\zz`} {
		_, err := pg.Unescape(text)
		require.ErrorContains(t, err, "is not as this package writes it", "%q", text)
	}
}
