package postgres

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// escape returns a name as PostgreSQL can store it: as it is, if it is text without NUL and
// backslash, which takes the place of both and of what is not UTF-8. Different names stay
// different.
func escape(name string) string {
	if utf8.ValidString(name) && !strings.ContainsAny(name, "\x00\\") {
		return name
	}
	var b strings.Builder
	for len(name) > 0 {
		r, size := utf8.DecodeRuneInString(name)
		switch {
		case r == 0, r == '\\', r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\%02x`, name[0])
		default:
			b.WriteString(name[:size])
		}
		name = name[size:]
	}
	return b.String()
}
