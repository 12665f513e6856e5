package pg

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Escape returns a text in a form that PostgreSQL can store. It escapes NUL, backslash and bytes
// that are not UTF-8 with a backslash, and leaves other text unchanged. Different texts have
// different results.
func Escape(text string) string {
	if utf8.ValidString(text) && !strings.ContainsAny(text, "\x00\\") {
		return text
	}
	var b strings.Builder
	for len(text) > 0 {
		r, size := utf8.DecodeRuneInString(text)
		switch {
		case r == 0, r == '\\', r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\%02x`, text[0])
		default:
			b.WriteString(text[:size])
		}
		text = text[size:]
	}
	return b.String()
}

// Unescape is the inverse of [Escape]. It fails for an invalid escape sequence, which Escape never
// writes.
func Unescape(text string) (string, error) {
	var b strings.Builder
	for {
		plain, rest, found := strings.Cut(text, `\`)
		b.WriteString(plain)
		if !found {
			return b.String(), nil
		}
		if len(rest) < 2 {
			return "", fmt.Errorf("%q is not as this package writes it", text)
		}
		c, err := strconv.ParseUint(rest[:2], 16, 8)
		if err != nil {
			return "", fmt.Errorf("%q is not as this package writes it: %w", text, err)
		}
		b.WriteByte(byte(c))
		text = rest[2:]
	}
}
