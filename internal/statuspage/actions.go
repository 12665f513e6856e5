package statuspage

import (
	"net/http"
)

// ActionHeader must be in every request that is to change something, with any value: a
// form on somebody else's page cannot set it.
const ActionHeader = "Understudy-Action"

// Actions are what a page may change.
type Actions struct {
	// Authorize says who may. It returns an error to refuse, which the caller is told.
	Authorize func(*http.Request) error
	// Down gives up the member of a name. It fails when there is none.
	Down func(member string) error
	// FoundWithout lets a cluster be founded without the nodes at some addresses. It fails when
	// that cannot be meant.
	FoundWithout func(addresses []string) error
	// Leave begins the orderly end of this node.
	Leave func()
}

// guard lets through what comes from this page or from no browser at all, and is allowed.
func (a *Actions) guard(act http.HandlerFunc) http.HandlerFunc {
	origin := http.NewCrossOriginProtection()
	return func(w http.ResponseWriter, r *http.Request) {
		if err := origin.Check(r); err != nil {
			http.Error(w, err.Error(), http.StatusForbidden)
			return
		}
		if r.Header.Get(ActionHeader) == "" {
			http.Error(w, "set the header "+ActionHeader+" to any value", http.StatusForbidden)
			return
		}
		if err := a.Authorize(r); err != nil {
			http.Error(w, err.Error(), http.StatusForbidden)
			return
		}
		act(w, r)
	}
}

func (a *Actions) down(w http.ResponseWriter, r *http.Request) {
	name := r.URL.Query().Get("member")
	if name == "" {
		http.Error(w, "say whom: ?member=NAME", http.StatusBadRequest)
		return
	}
	if err := a.Down(name); err != nil {
		http.Error(w, err.Error(), http.StatusNotFound)
		return
	}
	w.WriteHeader(http.StatusAccepted)
}

func (a *Actions) foundWithout(w http.ResponseWriter, r *http.Request) {
	addresses := r.URL.Query()["address"]
	if len(addresses) == 0 {
		http.Error(w, "say whose answers are not waited for: ?address=HOST:PORT, once for each", http.StatusBadRequest)
		return
	}
	if err := a.FoundWithout(addresses); err != nil {
		http.Error(w, err.Error(), http.StatusConflict)
		return
	}
	w.WriteHeader(http.StatusAccepted)
}

func (a *Actions) leave(w http.ResponseWriter, _ *http.Request) {
	a.Leave()
	w.WriteHeader(http.StatusAccepted)
}

// An actionable is a source whose page may change something.
type actionable struct{ Source }

// Snapshot implements [Source].
func (a actionable) Snapshot() (Snapshot, <-chan struct{}) {
	s, changed := a.Source.Snapshot()
	s.Actions = true
	return s, changed
}
