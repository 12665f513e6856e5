package placement

import (
	"strings"

	"github.com/understudy-go/understudy/cluster/internal/home"
)

// The keys of records begin with the kind of their label: a singleton that has ended keeps its
// record, because terms only grow, and a spec may then have its label.
const (
	ofSpec      = "spec/"
	ofSingleton = "singleton/"
)

// Replay takes over the ledger of the journal, before any step.
func (m *planner) Replay(l home.Ledger) {
	m.nodes.Recall(l)
	for _, key := range m.nodes.Keys() {
		r, _ := m.nodes.Record(key)
		if label, is := strings.CutPrefix(key, ofSpec); is {
			m.specs.replay(label, r)
		}
	}
}

// submits reports whether f has a spec that is new to the journal.
func submits(f home.Fact) bool { return f.Record != nil && len(f.Record.Spec) > 0 }
