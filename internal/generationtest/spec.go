package generationtest

import (
	"strings"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/singleton/generation"
)

var specLaws = []law{
	{"ASpecThatIsPutTwiceIsThereOnce", func(e *env) {
		s, label := e.open(), e.label()
		s.put(label, "spec")
		s.put(label, "spec")
		require.Equal(e, []generation.Record{{Label: label, Spec: []byte("spec")}}, s.list(label))
	}},
	{"ASpecTakesThePlaceOfTheOneBefore", func(e *env) {
		s, label := e.open(), e.label()
		s.put(label, "one")
		s.term(label, "a")
		s.put(label, "two")
		s.seq(label)
		require.Equal(e, []generation.Record{{Label: label, Spec: []byte("two"), Ownership: owned("a", 1, 1)}}, s.list(label))
	}},
	{"LabelsWithASpecAreListedInOrder", func(e *env) {
		s, begin := e.open(), e.label()
		for _, end := range []string{"b", "a", "B", "ab", "ä", "", "a b"} {
			s.put(begin+end, "spec of "+end)
		}
		s.term(begin+"term only", "a")
		s.term(begin+"a", "node")
		var listed []string
		for _, r := range s.list(begin) {
			end := strings.TrimPrefix(r.Label, begin)
			require.Equal(e, "spec of "+end, string(r.Spec))
			require.Equal(e, end == "a", r.Ownership == owned("node", 1, 0), end)
			listed = append(listed, end)
		}
		require.Equal(e, []string{"", "B", "a", "a b", "ab", "b", "ä"}, listed)
	}},
	{"WhatIsForgottenIsNotListedAndItsTermsGoOn", func(e *env) {
		s, label := e.open(), e.label()
		s.put(label, "spec")
		s.term(label, "a")
		s.term(label, "b")
		s.seq(label)
		s.forget(label)
		require.Empty(e, s.list(label))
		s.ownerless(label)
		s.neverClaimed(label)
		require.Equal(e, gen(3, 0), s.term(label, "c"))
		require.Equal(e, owned("c", 3, 0), s.owner(label))
		require.Empty(e, s.list(label), "a term is no spec")
		s.put(label, "again")
		require.Equal(e, []generation.Record{{Label: label, Spec: []byte("again"), Ownership: owned("c", 3, 0)}}, s.list(label))
	}},
	{"ASpecAfterForgettingHasNoOwner", func(e *env) {
		s, label := e.open(), e.label()
		s.term(label, "a")
		s.forget(label)
		s.put(label, "spec")
		require.Equal(e, []generation.Record{{Label: label, Spec: []byte("spec")}}, s.list(label))
		s.neverClaimed(label)
	}},
	{"WhatIsNotThereIsForgottenAlready", func(e *env) {
		s, label := e.open(), e.label()
		s.forget(label)
		s.term(label, "a")
		s.forget(label)
		s.forget(label)
		s.ownerless(label)
		require.Equal(e, gen(2, 0), s.term(label, "a"))
	}},
	{"SpecsAreAnyBytes", func(e *env) {
		s, begin := e.open(), e.label()
		every := make([]byte, 256)
		for i := range every {
			every[i] = byte(i)
		}
		specs := map[string]string{
			begin + "0 none":  "",
			begin + "1 every": string(every),
			begin + "2 large": strings.Repeat("0123456789abcdef", 100<<10/16),
		}
		for label, spec := range specs {
			s.put(label, spec)
		}
		require.NoError(e, s.PutSpec(e.Context(), begin+"3 nil", nil))
		specs[begin+"3 nil"] = ""
		require.Equal(e, specs, s.kept(begin))
	}},
	{"SpecsBelongToTheirSide", func(e *env) {
		s, label := e.open(), e.label()
		spec := []byte("spec")
		require.NoError(e, s.PutSpec(e.Context(), label, spec))
		spec[0] = 'X'
		listed := s.list(label)[0].Spec
		require.Equal(e, "spec", string(listed))
		listed[0] = 'Y'
		require.Equal(e, map[string]string{label: "spec"}, s.kept(label))
	}},
	{"LabelsAndOwnersMayBeAnyText", func(e *env) {
		s, other, begin := e.open(), e.open(), e.label()
		for _, end := range awkward {
			label := begin + end
			require.Equal(e, gen(1, 0), s.term(label, end), "%q", label)
			require.Equal(e, gen(1, 1), other.seq(label), "%q", label)
			require.Equal(e, owned(end, 1, 1), other.owner(label), "%q", label)
			s.put(label, end)
		}
		kept := other.kept(begin)
		require.Len(e, kept, len(awkward))
		for label, spec := range kept {
			require.Equal(e, begin+spec, label)
		}
	}},
}

var awkward = []string{
	"", "a", "A", "a ", " a", "a/b", "a//b", "a.b", "a-b", "a_b", "a:b", "a%2Fb", "a%b", "ä", "a\u0308", "日本語", "🎭",
	"'\"`;--", "\\", "\\\\", "\\00", "\\ff", "$1", "{}", "*", ">", "?", "#", "a\tb", "a\nb", "\x00", "a\x00b", "\xff", "\uFFFD",
	strings.Repeat("l", 200), strings.Repeat("é", 100),
}
