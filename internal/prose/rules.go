package prose

import (
	"regexp"
	"slices"
	"strings"
)

const (
	maxWords = 40  // of a sentence
	maxWidth = 100 // columns of a line of comment, a tab counting as four
)

// A Finding is one place that a rule objects to.
type Finding struct {
	File string
	Line int
	Rule string
	Text string // the words that the rule objects to, with some of their surroundings
}

type rule struct {
	name string
	find func(sentence string) []string
}

var rules = []rule{
	{"who without a noun", bareWho},
	{"that of", matches(`\bthat of\b`)},
	{"is none", matches(`\b(is|are|was|were) none\b`)},
	{"but for", matches(`\b(but|save) for\b`)},
	{"what as a noun", matches(`\bwhat (is|was|has been|had been|it is|it was|they are) (told|at|asked|sent|said)\b`)},
	{"nor and inversion", matches(`\bnor (is|are|was|does|do|has|can|may|will)\b`)},
	{"sentence over 40 words", longSentence},
}

// RuleNames returns the names of all rules, in the order in which they are reported.
func RuleNames() []string {
	var names []string
	for _, r := range rules {
		names = append(names, r.name)
	}
	return append(names, widthRule)
}

const widthRule = "line over 100 columns"

func matches(pattern string) func(string) []string {
	re := regexp.MustCompile(`(?i)` + pattern)
	return func(sentence string) []string {
		var found []string
		for _, at := range re.FindAllStringIndex(sentence, -1) {
			found = append(found, around(sentence, at[0], at[1]))
		}
		return found
	}
}

var who = regexp.MustCompile(`(?i)\b(who|whom|whoever)\b`)

var people = strings.Fields(`user users reader readers author authors operator operators person people
	anyone everyone somebody someone anybody nobody those engineer engineers developer developers
	contributor contributors attacker attackers newcomer newcomers administrator customer customers`)

// A pronoun for people needs a noun for people before it. Actors and nodes take "that". Questions
// may begin with the pronoun.
func bareWho(sentence string) []string {
	if strings.HasSuffix(sentence, "?") {
		return nil
	}
	var found []string
	for _, at := range who.FindAllStringIndex(sentence, -1) {
		before := strings.Fields(sentence[:at[0]])
		if len(before) > 0 && slices.Contains(people, strings.ToLower(strings.Trim(before[len(before)-1], ",;:()"))) {
			continue
		}
		found = append(found, around(sentence, at[0], at[1]))
	}
	return found
}

func longSentence(sentence string) []string {
	words := strings.Fields(sentence)
	if len(words) <= maxWords {
		return nil
	}
	return []string{strings.Join(words[:8], " ") + " …"}
}

// There are up to 30 bytes on either side.
func around(sentence string, from, to int) string {
	const margin = 30
	start, end := max(0, from-margin), min(len(sentence), to+margin)
	return strings.ToValidUTF8(sentence[start:end], "")
}
