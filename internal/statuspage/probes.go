package statuspage

import (
	"fmt"
	"net/http"
	"strings"
)

// probes tell nothing but names of checks and why they fail, to callers with any Host.
var probes = map[string]bool{"/livez": true, "/readyz": true}

func (h *handler) livez(w http.ResponseWriter, r *http.Request) {
	s, _ := h.source.Snapshot()
	probe(w, r, "livez", s.Live)
}

func (h *handler) readyz(w http.ResponseWriter, r *http.Request) {
	s, _ := h.source.Snapshot()
	probe(w, r, "readyz", s.Ready)
}

// probe answers like the API server of Kubernetes: "ok", or the list of checks if one has failed or
// the caller adds ?verbose.
func probe(w http.ResponseWriter, r *http.Request, name string, checks []Check) {
	text, failed := list(checks)
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	switch {
	case failed:
		w.WriteHeader(http.StatusServiceUnavailable)
		text += name + " check failed\n"
	case r.URL.Query().Has("verbose"):
		text += name + " check passed\n"
	default:
		text = "ok"
	}
	_, _ = w.Write([]byte(text)) // the client may be gone
}

func list(checks []Check) (text string, failed bool) {
	var b strings.Builder
	for _, c := range checks {
		if c.OK {
			fmt.Fprintf(&b, "[+]%s ok\n", c.Name)
			continue
		}
		fmt.Fprintf(&b, "[-]%s failed: %s\n", c.Name, c.Reason)
		failed = true
	}
	return b.String(), failed
}
