// Package naming is the rule for names: what users, files of settings and other nodes may
// call nodes, roles, services, actors and what they keep. A name is encoded, logged, shown,
// and compared on other nodes, so each of them must be able to carry it.
package naming

import (
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaxLength is how many bytes a name may have.
const MaxLength = 255

// MaxElement is how many bytes one element of a path may have, or what else is made of a name:
// one of [MaxLength] bytes fits in, when it is escaped.
const MaxElement = 1 << 10

// Errors begin with a verb, as their subject is the caller's to name.

// Check says what is wrong with a name, and nil when it can be used: it must have 1 to
// [MaxLength] bytes, be UTF-8, and have no control characters.
func Check(name string) error { return CheckLength(name, MaxLength) }

// CheckLength is Check for a name of up to limit bytes.
func CheckLength(name string, limit int) error {
	if name == "" {
		return errors.New("is empty")
	}
	if err := CheckText(name, limit); err != nil {
		return err
	}
	if i := strings.IndexFunc(name, unicode.IsControl); i >= 0 {
		r, _ := utf8.DecodeRuneInString(name[i:])
		return fmt.Errorf("has the control character %U", r)
	}
	return nil
}

// CheckText says what is wrong with a text that is no name, such as a value: it must be UTF-8,
// and of limit bytes at most. It may be empty.
func CheckText(text string, limit int) error {
	if len(text) > limit {
		return fmt.Errorf("has %d bytes, the limit is %d", len(text), limit)
	}
	if !utf8.ValidString(text) {
		return errors.New("is not UTF-8")
	}
	return nil
}

// CheckElement says what is wrong with a name that becomes an element of a path: it must have
// 1 to [MaxElement] bytes, of letters, digits and -_.:~+@. It may not begin with $: so do the
// names that a system makes.
func CheckElement(name string) error {
	switch {
	case name == "":
		return errors.New("is empty")
	case len(name) > MaxElement:
		return fmt.Errorf("has %d bytes, the limit is %d", len(name), MaxElement)
	case name[0] == '$':
		return errors.New("begins with $, which is kept for names made by the system")
	}
	for i := range len(name) {
		if !inElement[name[i]] {
			return alien(name[i:])
		}
	}
	return nil
}

// alien is the error of a name that goes on with what no name has.
func alien(rest string) error {
	r, size := utf8.DecodeRuneInString(rest)
	if r == utf8.RuneError && size == 1 {
		return errors.New("is not UTF-8")
	}
	return fmt.Errorf("contains %q; letters, digits and -_.:~+@ are allowed", r)
}

// CheckSystem says what is wrong with the name of a system, or of a cluster: it is an element
// of [MaxLength] bytes at most, without an @, which begins the address in paths.
func CheckSystem(name string) error {
	if err := CheckElement(name); err != nil {
		return err
	}
	if len(name) > MaxLength {
		return fmt.Errorf("has %d bytes, the limit is %d", len(name), MaxLength)
	}
	if strings.Contains(name, "@") {
		return errors.New("contains an @, which begins its address in paths")
	}
	return nil
}

// CheckPath says what is wrong with the path of an actor within its system: it is of elements,
// each with a slash before it. An element may have been made by the system. How long a path is
// does not matter here: it grows with the depth of the tree.
func CheckPath(path string) error {
	switch {
	case path == "" || path[0] != '/':
		return errors.New("does not begin with a slash")
	case path[len(path)-1] == '/':
		return errors.New("ends with a slash")
	}
	for i := 1; i < len(path); i++ {
		switch c := path[i]; {
		case inElement[c], c == '$' && path[i-1] == '/':
		case c != '/':
			return alien(path[i:])
		case path[i-1] == '/':
			return errors.New("has two slashes in a row")
		}
	}
	return nil
}

// CheckAddress says what is wrong with the host:port of a node: it must have both, be of 1 to
// [MaxLength] bytes, and have no characters that end an address in a path.
func CheckAddress(address string) error {
	if plainAddress(address) {
		return nil
	}
	if err := CheckPlace(address); err != nil {
		return err
	}
	if _, port, err := net.SplitHostPort(address); err != nil || port == "" {
		return errors.New("is not a host:port")
	}
	return nil
}

// CheckHostPort says what is wrong with a host:port to listen at or to dial: besides what
// [CheckAddress] says, its port must be a number, and one that there is. It may be 0, which is for
// the caller to judge, and the host may be empty.
func CheckHostPort(address string) error {
	if err := CheckAddress(address); err != nil {
		return err
	}
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		return errors.New("is not a host:port")
	}
	if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		return fmt.Errorf("has the port %q; ports are numbers up to 65535", port)
	}
	return nil
}

// CheckPlace says what is wrong with the address of a system, whatever its transport makes of
// it: it must be of 1 to [MaxLength] bytes, and have no characters that end an address in a path.
func CheckPlace(address string) error {
	if plainAddress(address) {
		return nil
	}
	if err := Check(address); err != nil {
		return err
	}
	if i := strings.IndexFunc(address, func(r rune) bool { return strings.ContainsRune("/#@", r) || unicode.IsSpace(r) }); i >= 0 {
		r, _ := utf8.DecodeRuneInString(address[i:])
		return fmt.Errorf("contains %q", r)
	}
	return nil
}

// plainAddress reports whether an address is one of the usual ones: each ref that arrives has
// one.
func plainAddress(address string) bool {
	colon := strings.LastIndexByte(address, ':')
	if colon < 1 || colon == len(address)-1 || len(address) > MaxLength {
		return false
	}
	for i := range len(address) {
		if c := address[i]; i != colon && (!inElement[c] || c == ':' || c == '@') {
			return false
		}
	}
	return true
}

// inElement are the characters of elements.
var inElement = func() (allowed [256]bool) {
	for c := range 256 {
		allowed[c] = c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c < utf8.RuneSelf && strings.ContainsRune("-_.:~+@", rune(c))
	}
	return allowed
}()
