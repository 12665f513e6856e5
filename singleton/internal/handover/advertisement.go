package handover

import (
	"fmt"
	"hash/fnv"
	"slices"
	"strings"

	"github.com/understudy-go/understudy/internal/singletonhook"
)

// An advertisement is what a node tells the others of a manager: the name of the singleton, and in
// its signature the settings that must be the same on all nodes for there to be one instance:
//
//	jobs#message=app.job#role=worker#anchor=oldest
//
// A signature leaves out settings that have their default, because every node passes on the
// advertisements of all. A name cannot contain "#". An advertisement without a signature says
// nothing about settings, and matches all.
const separator = "#"

// Advertise returns the advertisement of a singleton.
func Advertise(name, signature string) string {
	if signature == "" {
		return name
	}
	return name + separator + signature
}

// AdvertisedName returns the name of the singleton in an advertisement.
func AdvertisedName(advertisement string) string {
	name, _, _ := strings.Cut(advertisement, separator)
	return name
}

func advertised(p singletonhook.Peer) (signature string, has bool) {
	_, signature, _ = strings.Cut(p.Advertisement, separator)
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
	return strings.Join(parts, separator)
}

// bounded shortens a value that is too long, and keeps different values different.
func bounded(value string) string {
	value = strings.ToValidUTF8(strings.ReplaceAll(value, separator, "_"), "_")
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
	for part := range strings.SplitSeq(signature, separator) {
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
