package statuspage

import (
	"net/http"
	"strconv"
	"time"
)

// GivenUp are the messages to singletons that this node has put aside. The JSON names of its fields
// are a stable interface; docs/status.md describes them.
type GivenUp struct {
	Node     string           `json:"node"` // its name
	Time     time.Time        `json:"time"` // by the clock of the operating system
	Messages []GivenUpMessage `json:"messages"`
}

// A GivenUpMessage describes a message at which instances have failed too often.
type GivenUpMessage struct {
	Number    uint64    `json:"number"`
	Singleton string    `json:"singleton"`
	Type      string    `json:"type"`   // of the message, as Go prints it
	Reason    string    `json:"reason"` // the last failure
	Time      time.Time `json:"time"`   // when it was given up
}

func (h *handler) givenUp(w http.ResponseWriter, _ *http.Request) { answer(w, h.source.GivenUp()) }

func (a *Actions) message(act func(number uint64) error) http.HandlerFunc {
	return a.guard(func(w http.ResponseWriter, r *http.Request) {
		number, err := strconv.ParseUint(r.URL.Query().Get("number"), 10, 64)
		if err != nil {
			http.Error(w, "name the message by its number: ?number=N", http.StatusBadRequest)
			return
		}
		if err := act(number); err != nil {
			http.Error(w, err.Error(), http.StatusNotFound)
			return
		}
		w.WriteHeader(http.StatusAccepted)
	})
}
