package orders

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/understudy-go/understudy/persistence/workflow"
)

// checking is how long a node takes to check a card before it is charged. A node that is stopped
// meanwhile asks for the money when it wakes up, and may have been replaced by then.
const checking = 200 * time.Millisecond

// services are the clients of the outside services, as the steps of runs use them.
type services struct {
	url    string
	node   string
	client *http.Client // with a Transport of package outside
}

func (s services) reserve(ctx context.Context, id string) error {
	_, err := s.call(ctx, "reserve", id, nil)
	return err
}

func (s services) charge(ctx context.Context, id string, o Order) (cents int, err error) {
	if err := waitUntil(ctx, time.Now().Add(checking)); err != nil {
		return 0, err
	}
	return s.call(ctx, "charge", id, url.Values{"cents": {strconv.Itoa(o.Cents)}, "card": {o.Card}})
}

func (s services) notify(ctx context.Context, id string) error {
	_, err := s.call(ctx, "notify", id, nil)
	return err
}

func (s services) ship(ctx context.Context, id string) error {
	_, err := s.call(ctx, "ship", id, nil)
	return err
}

// undo calls release, refund or recall. There may be nothing to undo.
func (s services) undo(ctx context.Context, what, id string) error {
	_, err := s.call(ctx, what, id, nil)
	return err
}

// call calls a service. The client sends the key of the step, by which the service recognises a
// repetition, and the token, by which it recognises a process that was replaced.
func (s services) call(ctx context.Context, what, id string, query url.Values) (cents int, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url+"/"+what+"/"+id+"?"+query.Encode(), nil)
	if err != nil {
		return 0, err
	}
	r.Header.Set(nodeHeader, s.node)
	response, err := s.client.Do(r)
	if err != nil {
		return 0, err
	}
	defer response.Body.Close()
	switch response.StatusCode {
	case http.StatusOK:
		return cents, json.NewDecoder(response.Body).Decode(&cents)
	case http.StatusPaymentRequired:
		return 0, workflow.Final(errDeclined)
	case http.StatusGone:
		return 0, workflow.Final(errUndone)
	}
	return 0, fmt.Errorf("%s: %s", what, response.Status)
}
