package statuspage

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

// DeadLetters are the messages that could not be delivered on this node. The JSON names of its
// fields are a stable interface; docs/status.md describes them.
type DeadLetters struct {
	Time     time.Time         `json:"time"` // by the clock of the operating system
	ByReason map[string]uint64 `json:"byReason"`
	Letters  []DeadLetter      `json:"letters"` // newest first
	LeftOut  int               `json:"leftOut"` // of those kept, by the parameter limit
}

// A DeadLetter describes a message that could not be delivered, or several equal ones in a row.
type DeadLetter struct {
	Recipient string    `json:"recipient"` // path; "" for the zero ActorRef
	Sender    string    `json:"sender"`    // path; "" if it is not known
	Type      string    `json:"type"`      // of the message, as Go prints it
	Reason    string    `json:"reason"`    // one of those in byReason
	Text      string    `json:"text"`      // of the error, "" if the reason says it all
	Count     uint64    `json:"count"`
	First     time.Time `json:"first"`
	Last      time.Time `json:"last"`
	Numbers   []string  `json:"numbers"` // of the messages that are kept, the oldest first
	NotKept   string    `json:"notKept"` // why they are not, "" if they are or were, or if the node keeps none
	Asked     bool      `json:"asked"`   // an ask waited for the reply, and has ended; false if the node keeps none
}

// LetterNumber returns the number of the message of a dead letter as users write it: no message
// that was given up has such a one.
func LetterNumber(n uint64) string { return letterPrefix + strconv.FormatUint(n, 10) }

const letterPrefix = "d"

// Outcomes of a message that was sent again.
const (
	Delivered     = "delivered"      // to an actor of this node
	Sent          = "sent"           // to another node or an entity, and nothing more is known
	HandlerFailed = "handler failed" // of an actor of this node
	DeadAgain     = "dead again"
)

// A Resent says what has become of the message of a dead letter that was sent again. The JSON names
// of its fields are a stable interface; docs/status.md describes them.
type Resent struct {
	Number  string `json:"number"`
	To      string `json:"to"` // path
	Outcome string `json:"outcome"`
	Reason  string `json:"reason"` // of a failure or of the new dead letter, or ""
	Again   string `json:"again"`  // the number of the new dead letter, "" for none
}

// An empty text selects all.
func (d DeadLetters) of(reason, recipient string, limit int) DeadLetters {
	selected := []DeadLetter{}
	for _, letter := range d.Letters {
		if (reason == "" || letter.Reason == reason) && strings.Contains(letter.Recipient, recipient) {
			selected = append(selected, letter)
		}
	}
	d.LeftOut = max(0, len(selected)-limit)
	d.Letters = selected[:len(selected)-d.LeftOut]
	return d
}

func (h *handler) deadLetters(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	all := h.source.DeadLetters()
	limit := len(all.Letters)
	if text := query.Get("limit"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 0 {
			http.Error(w, "limit is how many to list at most, such as ?limit=20", http.StatusBadRequest)
			return
		}
		limit = n
	}
	answer(w, all.of(query.Get("reason"), query.Get("recipient"), limit))
}

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

// message acts on a message that was given up, or lets letter act on the message of a dead letter.
func (a *Actions) message(act func(number uint64) error, letter func(number uint64) (any, error)) http.HandlerFunc {
	return a.guard(func(w http.ResponseWriter, r *http.Request) {
		digits, ofLetter := strings.CutPrefix(r.URL.Query().Get("number"), letterPrefix)
		number, err := strconv.ParseUint(digits, 10, 64)
		if err != nil {
			http.Error(w, "name the message by its number: ?number=N, or ?number=dN for a dead letter", http.StatusBadRequest)
			return
		}
		var said any
		if ofLetter {
			said, err = letter(number)
		} else {
			err = act(number)
		}
		switch {
		case err != nil:
			http.Error(w, err.Error(), http.StatusNotFound)
		case said != nil:
			answerWith(w, http.StatusAccepted, said)
		default:
			w.WriteHeader(http.StatusAccepted)
		}
	})
}

func (a *Actions) resendLetter(number uint64) (any, error) { return a.ResendLetter(number) }

func (a *Actions) discardLetter(number uint64) (any, error) { return nil, a.DiscardLetter(number) }
