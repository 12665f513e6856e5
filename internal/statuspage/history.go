package statuspage

import (
	"net/http"
	"time"

	"github.com/understudy-go/understudy/internal/history"
)

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
