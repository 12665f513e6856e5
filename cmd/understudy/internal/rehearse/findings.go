package rehearse

import (
	"cmp"
	"slices"
	"strings"
)

// A Finding is something that differs between the builds. The JSON names are a stable interface;
// docs/cli.md describes them.
type Finding struct {
	Key      string    `json:"key"` // for -accept: kind:part:where
	Kind     string    `json:"kind"`
	Part     string    `json:"part"`  // ids of a part, or the name of a type; "" for all
	Where    string    `json:"where"` // a field or a type
	Text     string    `json:"text"`
	IDs      int       `json:"ids"` // how many persistence ids have it
	Examples []Example `json:"examples"`

	last string // id
}

// An Example is one of the first places of a finding. Of the kind stale, Old is the state by a
// snapshot, and New the one by the events.
type Example struct {
	ID   string `json:"id"`
	Seq  uint64 `json:"seq"` // of the event; 0 if it is about the state
	Path string `json:"path"`
	Old  string `json:"old"`
	New  string `json:"new"`
	Text string `json:"text"`
}

const maxExamples = 3

type findings struct {
	problems, notes map[string]*Finding
}

func newFindings() *findings {
	return &findings{map[string]*Finding{}, map[string]*Finding{}}
}

func (f *findings) problem(kind, part, where, text string, e Example) {
	add(f.problems, kind, part, where, text, e)
}

func (f *findings) note(kind, part, where, text string, e Example) {
	add(f.notes, kind, part, where, text, e)
}

func add(to map[string]*Finding, kind, part, where, text string, e Example) {
	key := strings.TrimRight(kind+":"+part+":"+where, ":")
	one := to[key]
	if one == nil {
		one = &Finding{Key: key, Kind: kind, Part: part, Where: where, Text: text, Examples: []Example{}}
		to[key] = one
	}
	if e == (Example{}) {
		return
	}
	if e.ID == one.last && e.ID != "" {
		return // another place of the same id
	}
	one.last = e.ID
	if e.ID != "" {
		one.IDs++
	}
	if len(one.Examples) < maxExamples {
		one.Examples = append(one.Examples, e)
	}
}

// merge leaves out notes about what is a problem, too.
func (f *findings) merge() {
	for key, note := range f.notes {
		if p := f.problems[key]; p != nil {
			delete(f.notes, key)
			if len(p.Examples) == 0 {
				p.IDs, p.Examples = note.IDs, note.Examples
			}
		}
	}
}

func sorted(all map[string]*Finding) []Finding {
	list := []Finding{}
	for _, f := range all {
		list = append(list, *f)
	}
	slices.SortFunc(list, func(a, b Finding) int { return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Key, b.Key)) })
	return list
}
