package nats

import "strings"

func holderKey(name string) string { return "holder." + token(name) }

// tokenKey is the key that says up to which number the tokens of a name are used up.
func tokenKey(name string) string { return "token." + token(name) }

// token returns a name as one token of a subject: letters, digits, '-' and '_' stay, and any other
// byte becomes its value, as in "a=2Fb" for "a/b". Different names stay different. The token of an
// empty name is "=".
func token(name string) string {
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
			b.Write([]byte{'=', digits[c>>4], digits[c&15]})
		}
	}
	return b.String()
}
