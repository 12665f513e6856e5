package naming

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWhatIsWrongWithANameIsSaid(t *testing.T) {
	long := strings.Repeat("x", MaxElement+1)
	for _, test := range []struct {
		what  string
		check func(string) error
		good  []string
		bad   map[string]string
	}{
		{"name", Check, []string{"a", "Zürich", "a b/c", long[:MaxLength]}, map[string]string{
			"": "is empty", "a\xff": "is not UTF-8", "a\nb": "has the control character U+000A", "a\u0085": "has the control character U+0085",
			long[:MaxLength+1]: "has 256 bytes, the limit is 255",
		}},
		{"element", CheckElement, []string{"a", "a-b", "a-b_c.d:e~f+g@h"}, map[string]string{
			"": "is empty", "a\xff": "is not UTF-8", "a/b": "contains '/'; letters, digits and -_.:~+@ are allowed",
			"é": "contains 'é'; letters, digits and -_.:~+@ are allowed", "$a": "begins with $, which is kept for names made by the system",
			long: "has 1025 bytes, the limit is 1024", "a\x00": `contains '\x00'; letters, digits and -_.:~+@ are allowed`,
		}},
		{"system", CheckSystem, []string{"shop"}, map[string]string{
			"": "is empty", "a b": "contains ' '", "a@b": "contains '@'", "$a": "begins with $", "a\xff": "is not UTF-8", long[:MaxLength+1]: "has 256 bytes",
		}},
		{"path", CheckPath, []string{"/user", "/user/a", "/user/$1a/b", "/temp/17"}, map[string]string{
			"": "does not begin with a slash", "user": "does not begin with a slash", "/": "ends with a slash", "/user/": "ends with a slash",
			"/user//a": "has two slashes in a row", "/user/a\xff": "is not UTF-8", "/user/a b": "contains ' '; letters, digits and -_.:~+@ are allowed",
			"/user/\n": `contains '\n'; letters, digits and -_.:~+@ are allowed`,
		}},
		{"address", CheckAddress, []string{"a:1", "10.0.0.1:7000", "[::1]:7000", "[fe80::1%eth0]:1"}, map[string]string{
			"": "is empty", "a": "is not a host:port", "a:": "is not a host:port", "a\xff:1": "is not UTF-8", "a/b:1": "contains '/'", "a b:1": "contains ' '",
			"a@b:1": "contains '@'", "a\x01:1": "has the control character U+0001",
		}},
		{"place", CheckPlace, []string{"a", "a:1"}, map[string]string{"": "is empty", "a/b": "contains '/'", "a\xff": "is not UTF-8"}},
	} {
		for _, name := range test.good {
			require.NoError(t, test.check(name), "%s %q", test.what, name)
		}
		for name, complaint := range test.bad {
			require.EqualError(t, test.check(name), complaint, "%s %q", test.what, name)
		}
	}
}

func FuzzAnElementIsANameAndPartOfAPath(f *testing.F) {
	f.Add("a")
	f.Add("a\xff")
	f.Fuzz(func(t *testing.T, name string) {
		if CheckElement(name) == nil && len(name) <= MaxLength {
			require.NoError(t, Check(name))
			require.NoError(t, CheckPath("/user/"+name))
		}
	})
}

func TestAPortIsANumberThatThereIs(t *testing.T) {
	for _, address := range []string{"n1:0", "n1:1", ":7355", "127.0.0.1:65535", "[::1]:7355", "[fe80::1%eth0]:7355"} {
		require.NoError(t, CheckHostPort(address), address)
	}
	for address, want := range map[string]string{
		"n1:65536": `has the port "65536"`,
		"n1:http":  `has the port "http"`,
		"n1:-1":    `has the port "-1"`,
		"[::1]:+1": `has the port "+1"`,
		"n1":       "is not a host:port",
		"n1:":      "is not a host:port",
		"":         "is empty",
		"n 1:1":    `contains ' '`,
	} {
		require.ErrorContains(t, CheckHostPort(address), want, address)
	}
}

func TestOthersReachANodeAtOneHost(t *testing.T) {
	for _, address := range []string{"n1:1", "127.0.0.1:1", "[::1]:1", "[fe80::1%eth0]:1"} {
		require.NoError(t, CheckAdvertised(address), address)
		require.NoError(t, CheckNode(address), address)
	}
	for address, want := range map[string]string{
		":1":        "has no host",
		"0.0.0.0:1": "has the host 0.0.0.0, which stands for all interfaces",
		"[::]:1":    "has the host ::, which stands for all interfaces",
		"n1":        "is not a host:port",
	} {
		require.ErrorContains(t, CheckAdvertised(address), want, address)
		require.ErrorContains(t, CheckNode(address), want, address)
	}
	require.NoError(t, CheckAdvertised("n1:0"))
	for _, address := range []string{"n1:0", "n1:00"} {
		require.ErrorContains(t, CheckNode(address), "has the port 0, at which no node listens", address)
	}
}
