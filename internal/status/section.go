// Package status is for what a package shows on the status page of its node: see [AddSection].
// Package statuspage serves the page, and knows no section.
package status

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/extension"
)

// A Section is what one package shows of a system. Any goroutine may call its functions, also after
// the system has ended.
type Section struct {
	Level Level

	// Refresh asks other nodes for what the next Read needs. It blocks for at most [Patience]. It
	// is nil for a section that asks no other node.
	Refresh func(ctx context.Context)

	// Read returns fields of the JSON under /details, by their names, and what is wrong. The texts
	// of problems must rest while nothing changes, because they are in the stream of events. Read
	// does not block.
	Read func() (details map[string]any, problems []Problem)

	// Retry lets what has a name try again what it holds back. It blocks until that is done, or ctx
	// ends. It returns nil if nothing has the name. It is nil for a section that holds nothing
	// back.
	Retry func(ctx context.Context, name string) *Retried
}

// A Retried is the outcome of a retry.
type Retried struct {
	Done bool // false: it goes on
	Held int  // how many things are still held back
}

// A Level orders sections: problems of a lower level cause those of a higher one, and are listed
// first.
type Level int

// The levels.
const (
	Connections Level = iota
	Stores
	StoreReaders
	Homes // of placed actors and shards
	Schedules
)

// A Problem is why something does not move.
type Problem struct {
	Kind  string `json:"kind"`  // link, journal, projection, placement, shards, schedule or workflow; of actors: circle, slow handler or backlog
	About string `json:"about"` // the member, journal, projection, label, type or path; "" for a coordinator
	Text  string `json:"text"`  // in sentences
}

type sections struct {
	mu  sync.Mutex // guards all
	all []Section  // by level
}

func newSections() *sections { return new(sections) }

// AddSection shows a section on the status page of a system from now on.
func AddSection(s *actor.System, one Section) {
	in := extension.Ensure(s, newSections)
	in.mu.Lock()
	defer in.mu.Unlock()
	in.all = append(in.all, one)
	slices.SortStableFunc(in.all, func(a, b Section) int { return cmp.Compare(a.Level, b.Level) })
}

func sectionsOf(s *actor.System) []Section {
	in := extension.Ensure(s, newSections)
	in.mu.Lock()
	defer in.mu.Unlock()
	return slices.Clone(in.all)
}

// Refresh refreshes all sections of a system. It blocks for at most [Patience].
func Refresh(ctx context.Context, s *actor.System) {
	var asks sync.WaitGroup
	for _, one := range sectionsOf(s) {
		if one.Refresh != nil {
			asks.Go(func() { one.Refresh(ctx) })
		}
	}
	asks.Wait()
}

// Retry calls the Retry of the sections of a system until one knows the name, and returns nil if
// none does.
func Retry(ctx context.Context, s *actor.System, name string) *Retried {
	for _, one := range sectionsOf(s) {
		if one.Retry == nil {
			continue
		}
		if r := one.Retry(ctx, name); r != nil {
			return r
		}
	}
	return nil
}

// Read returns the fields of all sections of a system, with the time, and their problems, by level.
// It does not block.
func Read(s *actor.System) (details map[string]any, problems []Problem) {
	details, problems = map[string]any{"time": time.Now()}, []Problem{}
	for _, one := range sectionsOf(s) {
		fields, found := one.Read()
		maps.Copy(details, fields)
		problems = append(problems, bounded(found)...)
	}
	return details, problems
}

const mostProblems = 20 // of one section; a further one counts the others

func bounded(found []Problem) []Problem {
	left := len(found) - mostProblems
	if left <= 0 {
		return found
	}
	return append(found[:mostProblems:mostProblems], Problem{Kind: found[0].Kind, Text: fmt.Sprintf("There are %d more problems of this kind.", left)})
}

const mostText = 300 // bytes

// Text returns a text of an error in the form in which pages show it: short, and valid UTF-8.
func Text(text string) string {
	if len(text) > mostText {
		text = text[:mostText] + "…"
	}
	return strings.ToValidUTF8(text, "\uFFFD")
}
