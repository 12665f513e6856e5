package handover

import (
	"fmt"
	"hash/fnv"
	"slices"
	"strings"

	"github.com/understudy-go/understudy/internal/singletons/directory"
)

func advertised(p directory.Peer) (signature string, has bool) {
	_, signature, _ = strings.Cut(p.Advertisement, directory.Separator)
	return signature, p.Advertisement != ""
}

// A Setting is a part of a signature.
type Setting struct{ Name, Value string }

const maxValue = 100

// SignatureOf returns the signature of those settings that are not empty.
func SignatureOf(settings []Setting) string {
	var parts []string
	for _, s := range settings {
		if s.Value != "" {
			parts = append(parts, s.Name+"="+bounded(s.Value))
		}
	}
	return strings.Join(parts, directory.Separator)
}

// bounded shortens a value that is too long, and keeps different values different.
func bounded(value string) string {
	value = strings.ToValidUTF8(strings.ReplaceAll(value, directory.Separator, "_"), "_")
	if len(value) <= maxValue {
		return value
	}
	sum := fnv.New64a()
	_, _ = sum.Write([]byte(value)) // never fails
	return fmt.Sprintf("%s…%x", strings.ToValidUTF8(value[:maxValue-20], ""), sum.Sum64())
}

// matches reports whether two signatures are of one singleton.
func matches(a, b string) bool { return a == "" || b == "" || a == b }

// Differences says for people how two signatures differ: "role is "a" here and "b" there".
func Differences(here, there string) string {
	h, t := readSignature(here), readSignature(there)
	var all []string
	for _, each := range append(h, t...) {
		mine, other := valueOf(h, each.Name), valueOf(t, each.Name)
		text := fmt.Sprintf("%s is %q here and %q there", each.Name, mine, other)
		if mine != other && !slices.Contains(all, text) {
			all = append(all, text)
		}
	}
	return strings.Join(all, ", ")
}

func readSignature(signature string) []Setting {
	var all []Setting
	for part := range strings.SplitSeq(signature, directory.Separator) {
		if name, value, ok := strings.Cut(part, "="); ok {
			all = append(all, Setting{name, value})
		}
	}
	return all
}

func valueOf(settings []Setting, name string) string {
	for _, s := range settings {
		if s.Name == name {
			return s.Value
		}
	}
	return ""
}
