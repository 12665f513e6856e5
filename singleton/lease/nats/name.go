package nats

import "strings"

// holderKey is the key of a lease's record.
func holderKey(name string) string { return "holder." + escape(name) }

// tokenKey is the key that says up to which number the tokens of a name are used up.
func tokenKey(name string) string { return "token." + escape(name) }

// escape turns a name into one token of a subject. Letters, digits, '-' and '_' stay; any other
// byte becomes its value, as in "a=2Fb" for "a/b". Different names stay different.
func escape(name string) string {
	if name == "" {
		return "="
	}
	const digits = "0123456789ABCDEF"
	var b strings.Builder
	for i := range len(name) {
		switch c := name[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '-', c == '_':
			b.WriteByte(c)
		default:
			b.WriteByte('=')
			b.WriteByte(digits[c>>4])
			b.WriteByte(digits[c&15])
		}
	}
	return b.String()
}
