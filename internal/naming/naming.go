// Package naming has the rules for names of nodes, roles, services, actors and what they store. A
// name is encoded, logged, displayed and compared on other nodes, so all of them must be able to
// carry it.
package naming

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaxLength is the largest size of a name in bytes.
const MaxLength = 255

// MaxElement is the largest size in bytes of one element of a path, or of what else is made from a
// name. An escaped name of [MaxLength] bytes fits in.
const MaxElement = 1 << 10

// Errors begin with a verb: the caller names the subject.

// Check returns nil for a valid name: 1 to [MaxLength] bytes of UTF-8 without control characters.
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

// CheckText returns nil for a valid text that is no name, such as a value: UTF-8 of at most limit
// bytes. It may be empty.
func CheckText(text string, limit int) error {
	if len(text) > limit {
		return fmt.Errorf("has %d bytes, the limit is %d", len(text), limit)
	}
	if !utf8.ValidString(text) {
		return errors.New("is not UTF-8")
	}
	return nil
}

// CheckElement returns nil for a name that can be an element of a path: 1 to [MaxElement] letters,
// digits and -_.:~+@. It must not begin with $, which begins the names that a system makes.
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
			return alien(name[i:], ofElement)
		}
	}
	return nil
}

const ofElement = "; letters, digits and -_.:~+@ are allowed"

func alien(rest, allowed string) error {
	r, size := utf8.DecodeRuneInString(rest)
	if r == utf8.RuneError && size == 1 {
		return errors.New("is not UTF-8")
	}
	return fmt.Errorf("contains %q%s", r, allowed)
}

// OfSystem says what [CheckSystem] allows. Callers add it to the error.
const OfSystem = "1 to 255 letters, digits and -_.:~+"

// CheckSystem returns nil for a valid name of a system or cluster: an element of at most
// [MaxLength] bytes without an @, which begins the address in paths.
func CheckSystem(name string) error {
	switch {
	case name == "":
		return errors.New("is empty")
	case len(name) > MaxLength:
		return fmt.Errorf("has %d bytes", len(name))
	case name[0] == '$':
		return errors.New("begins with $")
	}
	for i := range len(name) {
		if !inElement[name[i]] || name[i] == '@' {
			return alien(name[i:], "")
		}
	}
	return nil
}

// CheckPath returns nil for a valid path of an actor within its system: elements, each after a
// slash. The system may have made an element. The length of a path is not limited here, because it
// grows with the depth of the tree.
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
			return alien(path[i:], ofElement)
		case path[i-1] == '/':
			return errors.New("has two slashes in a row")
		}
	}
	return nil
}

// CheckAddress returns nil for a valid host:port of a node: both parts, 1 to [MaxLength] bytes,
// and no characters that end an address in a path.
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

// CheckHostPort returns nil for a host:port to listen at or to dial: besides [CheckAddress], the
// port must be a number from 0 to 65535. The host may be empty. The caller decides whether port 0
// is allowed.
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

// CheckAdvertised returns nil for the host:port at which others reach a node: besides
// [CheckHostPort], it must have a host, which must not be the unspecified address, such as 0.0.0.0.
// Port 0 is allowed.
func CheckAdvertised(address string) error {
	if err := CheckHostPort(address); err != nil {
		return err
	}
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return errors.New("is not a host:port")
	}
	if host == "" {
		return errors.New("has no host")
	}
	if ip, err := netip.ParseAddr(host); err == nil && ip.WithZone("").IsUnspecified() {
		return fmt.Errorf("has the host %s, which stands for all interfaces of a machine and leads to no other one", host)
	}
	return nil
}

// CheckNode returns nil for the host:port of another node: besides [CheckAdvertised], its port must
// not be 0.
func CheckNode(address string) error {
	if err := CheckAdvertised(address); err != nil {
		return err
	}
	if _, port, err := net.SplitHostPort(address); err != nil || strings.Trim(port, "0") == "" {
		return errors.New("has the port 0, at which no node listens")
	}
	return nil
}

// CheckPlace returns nil for a valid address of a system with any transport: 1 to [MaxLength]
// bytes, and no characters that end an address in a path.
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

// plainAddress is fast, because each ref that arrives has an address.
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

var inElement = func() (allowed [256]bool) {
	for c := range 256 {
		allowed[c] = c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c < utf8.RuneSelf && strings.ContainsRune("-_.:~+@", rune(c))
	}
	return allowed
}()
