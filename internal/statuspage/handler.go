package statuspage

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/understudy-go/understudy/internal/history"
	"github.com/understudy-go/understudy/internal/status"
)

// Between requests it remembers only which servers use it.
type handler struct {
	source  Source
	routes  map[string]route
	servers servers
}

type route map[string]http.HandlerFunc

// Options say what a handler does beside showing its source.
type Options struct {
	Actions *Actions     // nil: nothing can be changed
	Metrics http.Handler // nil: the path answers 404
	States  *States      // nil: likewise

	Runs func() status.Runs // of workflows; nil, or returns nil: likewise
}

// New returns a handler that shows source. Paths are relative to where it is mounted; use
// [http.StripPrefix].
func New(source Source, opts Options) http.Handler {
	h := &handler{source: source}
	metrics := opts.Metrics
	if metrics == nil {
		metrics = http.HandlerFunc(noMetrics)
	}
	states := noStates
	if opts.States != nil {
		h.source = showing{source}
		states = opts.States.entity
	}
	if opts.Runs == nil {
		opts.Runs = func() status.Runs { return nil }
	}
	h.routes = map[string]route{
		"/status":       read(h.status),
		"/actors":       read(h.actors),
		"/dead-letters": read(h.deadLetters),
		"/given-up":     read(h.givenUp),
		"/details":      read(h.details),
		"/entity":       read(states),
		"/history":      read(h.history),
		"/runs":         read(runs(opts.Runs)),
		"/events":       read(h.events),
		"/livez":        read(h.livez),
		"/metrics":      read(metrics.ServeHTTP),
		"/readyz":       read(h.readyz),
	}
	for path, serve := range assets() {
		h.routes[path] = read(serve)
	}
	if actions := opts.Actions; actions != nil {
		h.source = actionable{h.source}
		h.routes["/actions/down"] = route{http.MethodPost: actions.guard(actions.down)}
		h.routes["/actions/found-without"] = route{http.MethodPost: actions.guard(actions.foundWithout)}
		h.routes["/actions/leave"] = route{http.MethodPost: actions.guard(actions.leave)}
		actions.Runs = opts.Runs
		h.routes["/actions/run"] = route{http.MethodPost: actions.guard(actions.steer)}
		h.routes["/actions/retry"] = route{http.MethodPost: actions.guard(actions.retry)}
		h.routes["/actions/resend"] = route{http.MethodPost: actions.message(actions.Resend, actions.resendLetter)}
		h.routes["/actions/discard"] = route{http.MethodPost: actions.message(actions.Discard, actions.discardLetter)}
	}
	return h
}

func noMetrics(w http.ResponseWriter, _ *http.Request) {
	http.Error(w, "this program serves no metrics here: pass cluster.WithMetrics to node.Handler, with the Handler of the module actor/telemetry/prometheus", http.StatusNotFound)
}

func read(serve http.HandlerFunc) route {
	return route{http.MethodGet: serve, http.MethodHead: serve}
}

const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	header.Set("Content-Security-Policy", policy)
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("X-Frame-Options", "DENY")
	header.Set("Referrer-Policy", "no-referrer")
	header.Set("Cross-Origin-Resource-Policy", "same-origin")
	header.Set("Cache-Control", "no-store")
	h.servers.of(r) // register with the server before it shuts down
	methods, known := h.routes[r.URL.Path]
	if !known {
		http.Error(w, "no such page", http.StatusNotFound)
		return
	}
	if rebound(r) && !probes[r.URL.Path] {
		http.Error(w, misnamed, http.StatusForbidden)
		return
	}
	serve, allowed := methods[r.Method]
	if !allowed {
		header.Set("Allow", methods.allow())
		http.Error(w, "this page does not know the method "+r.Method, http.StatusMethodNotAllowed)
		return
	}
	serve(w, r)
}

func (r route) allow() string {
	var names []string
	for name := range r {
		names = append(names, name)
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}

func (h *handler) status(w http.ResponseWriter, r *http.Request) {
	h.source.Refresh(r.Context())
	s, _ := snapshotOf(h.source)
	answer(w, s.bounded())
}

func answer(w http.ResponseWriter, v any) { answerWith(w, http.StatusOK, v) }

func answerWith(w http.ResponseWriter, code int, v any) {
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_, _ = w.Write(append(b, '\n')) // the client may be gone
}

// A History is what the node has decided and noticed. The JSON names of its fields are a stable
// interface; docs/status.md describes them.
type History struct {
	Time   time.Time       `json:"time"` // by the clock of the operating system
	Node   string          `json:"node"`
	Events []history.Event `json:"events"` // newest first
}

func (h *handler) history(w http.ResponseWriter, _ *http.Request) {
	all := h.source.History()
	all.Events = append([]history.Event{}, all.Events...) // not null in JSON
	answer(w, all)
}

// A server that shuts down waits for its requests and does not cancel their contexts, so streams
// must learn of it in another way.
type servers struct {
	mu      sync.Mutex // guards closing
	closing map[*http.Server]chan struct{}
}

// The channel is closed when the server shuts down, or nil if the request comes from no server. It
// registers with a server at the server's first request, because a server that already shuts down
// calls no new functions.
func (s *servers) of(r *http.Request) <-chan struct{} {
	server, ok := r.Context().Value(http.ServerContextKey).(*http.Server)
	if !ok {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if known := s.closing[server]; known != nil {
		return known
	}
	if s.closing == nil {
		s.closing = map[*http.Server]chan struct{}{}
	}
	closing := make(chan struct{})
	s.closing[server] = closing
	server.RegisterOnShutdown(sync.OnceFunc(func() { close(closing) }))
	return closing
}
