package singleton

import (
	"fmt"
	"hash/fnv"
	"reflect"
	"slices"
	"strings"

	"github.com/understudy-go/understudy/internal/codec"
)

// An offer is what a node tells the others of a manager: the name of the singleton, and
// in its signature what must be the same everywhere for there to be one instance. It
// looks like
//
//	jobs#message=app.job#role=worker#anchor=oldest
//
// Signatures leave out what is as by default, as every node passes on those of all. A name
// cannot contain "#"; an offer without a signature, of which nothing is known, fits all.
const offerMark = "#"

// offerName returns the name of the singleton that an offer is for.
func offerName(offer string) string {
	name, _, _ := strings.Cut(offer, offerMark)
	return name
}

// offer returns the text of the offer of a singleton.
func offer(name, signature string) string {
	if signature == "" {
		return name
	}
	return name + offerMark + signature
}

// offer returns the signature under which p has a manager for the singleton that the topology
// is about.
func (p Peer) offer() (signature string, offers bool) {
	_, signature, _ = strings.Cut(p.offered, offerMark)
	return signature, p.offered != ""
}

// A trait is a part of a signature.
type trait struct{ what, value string }

// traits are what makes a singleton another one, when nodes differ in it: which messages
// there are, where it may run, and what keeps an instance from running beside another.
func (s *settings) traits(message reflect.Type) []trait {
	return []trait{
		{"message", typeName(message)},
		{"role", s.role},
		{"anchor", s.anchor.String()},
		{"stop message", stopName(s.stopMessage)},
		{"lease", presence(s.leased())},
		{"generations", presence(s.sourced())},
		{"at least once", presence(s.window > 0)},
	}
}

// maxTrait bounds the value of a trait, in bytes.
const maxTrait = 100

// signatureOf writes traits down, those that are not empty.
func signatureOf(traits []trait) string {
	var parts []string
	for _, t := range traits {
		if t.value != "" {
			parts = append(parts, t.what+"="+bounded(t.value))
		}
	}
	return strings.Join(parts, offerMark)
}

// bounded shortens what is too long, so that what differs still does.
func bounded(value string) string {
	value = strings.ToValidUTF8(strings.ReplaceAll(value, offerMark, "_"), "_")
	if len(value) <= maxTrait {
		return value
	}
	sum := fnv.New64a()
	_, _ = sum.Write([]byte(value)) // never fails
	return fmt.Sprintf("%s…%x", strings.ToValidUTF8(value[:maxTrait-20], ""), sum.Sum64())
}

// typeName is the name for the wire, where there is one: two builds of a program may have
// the type in different packages.
func typeName(t reflect.Type) string {
	if name, registered := codec.NameOf(t); registered {
		return name
	}
	return t.String()
}

func stopName(msg any) string {
	if msg == nil {
		return ""
	}
	return typeName(reflect.TypeOf(msg))
}

// presence is all that nodes can compare of what each of them has made for itself.
func presence(yes bool) string {
	if yes {
		return "yes"
	}
	return ""
}

// fits reports whether two signatures are of one singleton.
func fits(a, b string) bool { return a == "" || b == "" || a == b }

// differences says in what two signatures differ, for people: "role is "a" here and "b"
// there".
func differences(here, there string) string {
	h, t := readSignature(here), readSignature(there)
	var all []string
	for _, each := range append(h, t...) {
		mine, other := valueOf(h, each.what), valueOf(t, each.what)
		text := fmt.Sprintf("%s is %q here and %q there", each.what, mine, other)
		if mine != other && !slices.Contains(all, text) {
			all = append(all, text)
		}
	}
	return strings.Join(all, ", ")
}

func readSignature(signature string) []trait {
	var all []trait
	for part := range strings.SplitSeq(signature, offerMark) {
		if what, value, ok := strings.Cut(part, "="); ok {
			all = append(all, trait{what, value})
		}
	}
	return all
}

func valueOf(traits []trait, what string) string {
	for _, t := range traits {
		if t.what == what {
			return t.value
		}
	}
	return ""
}
