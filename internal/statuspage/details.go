package statuspage

import "net/http"

func (h *handler) details(w http.ResponseWriter, r *http.Request) {
	h.source.Refresh(r.Context())
	details, _ := h.source.Details()
	answer(w, details)
}
