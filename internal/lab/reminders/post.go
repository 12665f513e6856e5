package reminders

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"
)

// A delivery is what the recipient gets. Customer, Key and Due are its id.
type delivery struct {
	Customer, Key string
	Due           time.Time
	Attempt       int
	Text          string
	Node          string // that has delivered it
	Woken         bool   // its entity was started for it
}

// errUndelivered is the reason of deliveries that the recipient has not confirmed. It may have got
// them.
var errUndelivered = errors.New("reminder not confirmed by its recipient")

// A post delivers to one recipient.
type post struct {
	to     string
	client *http.Client
}

func newPost(to string) post {
	return post{to: to, client: &http.Client{Timeout: 2 * time.Second}}
}

func (p post) deliver(ctx context.Context, d delivery) error {
	body, err := json.Marshal(d)
	if err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, p.to, bytes.NewReader(body))
	if err != nil {
		return err
	}
	response, err := p.client.Do(r)
	if err != nil {
		return fmt.Errorf("%w: %w", errUndelivered, err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%w: %s", errUndelivered, response.Status)
	}
	return nil
}
