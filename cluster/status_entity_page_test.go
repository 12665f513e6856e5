package cluster

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/browser"
	"github.com/understudy-go/understudy/internal/inspect"
	"github.com/understudy-go/understudy/internal/statuspage"
)

func TestThePageShowsWhatAnActorHasStoredOnlyWhereTheProgramDoes(t *testing.T) {
	b := browser.Start(t)
	b.Open(serve(t, crowd(3, 1)), 1400, 900, drawn)
	require.Equal(t, true, b.Eval(`document.getElementById("entity-part").hidden`))

	states := &statuspage.States{
		Authorize: func(r *http.Request) error {
			if r.URL.Query().Get("type") == "safe" {
				return errors.New("clerks only")
			}
			return nil
		},
		Shower: func() *inspect.Shower { return &inspect.Shower{} },
		Look: func(_ context.Context, typ, id string, q inspect.Query) (inspect.Found, error) {
			if typ != "cart" {
				return inspect.Found{}, fmt.Errorf("%w: %s", statuspage.ErrNoType, typ)
			}
			if id == "43" {
				return inspect.Found{ID: "cart|43"}, nil
			}
			return inspect.Found{
				ID: "cart|42", Seq: 9, Time: time.Now(), State: map[string]any{"Items": map[string]int{"<b>tea</b>": 2}, "Closed": q.At == 3},
				Events: []inspect.Event{
					{Seq: 8, Type: "cart.put", Event: map[string]string{"Item": "tea"}}, {Seq: 9, Type: "cart.put", Error: "malformed"},
				},
			}, nil
		},
	}
	idle := statuspage.Actors{Time: time.Now(), Handlers: []statuspage.Handler{}, Asks: []statuspage.Ask{}, Circles: [][]string{}}
	s := crowd(3, 1)
	server := httptest.NewServer(statuspage.New(stillSource{still: s, actors: idle, details: detailsFor(s)}, statuspage.Options{States: states}))
	t.Cleanup(server.Close)
	t.Cleanup(server.CloseClientConnections)
	b.Open(server.URL+"/", 1400, 900, drawn)
	b.Await(`!document.getElementById("entity-part").hidden`)
	look := func(typ, id, at string) {
		b.Eval(fmt.Sprintf(`(() => {
			for (const [field, text] of [["type", %q], ["id", %q], ["at", %q]]) document.getElementById("entity-" + field).value = text;
			document.getElementById("entity-form").requestSubmit();
		})()`, typ, id, at))
	}
	look("cart", "42", "")
	b.Await(`document.getElementById("entity-seq").textContent.startsWith("cart|42, event 9, stored ")`)
	require.Equal(t, `State {2}Closed falseItems {1}<b>tea</b> 2`, b.Eval(`document.getElementById("entity-state").textContent`))
	require.Zero(t, b.Count("#entity-state b"), "a key is text")
	require.Equal(t, "malformed", b.Eval(`document.querySelector("#entity-events tbody tr:first-child td:last-child").textContent`), "the newest is first")
	require.JSONEq(t, `{"Item":"tea"}`, b.Eval(`document.querySelector('#entity-events [data-seq="8"] td:last-child').textContent`).(string))
	b.Eval(`document.getElementById("entity-part").scrollIntoView()`)
	b.Shoot("entity")
	look("cart", "42", "3")
	b.Await(`document.getElementById("entity-state").textContent.includes("Closed true")`)
	look("cart", "43", "")
	b.Await(`document.getElementById("entity-seq").textContent === "Nothing is stored for cart|43."`)
	look("tub", "1", "")
	b.Await(`document.getElementById("entity-result").textContent.includes("no such type: tub")`)
	require.Equal(t, true, b.Eval(`document.getElementById("entity-found").hidden`))
	look("cart", "42", "yesterday")
	b.Await(`document.getElementById("entity-result").textContent.includes("neither the number of an event nor a time")`)
	look("safe", "1", "")
	b.Await(`document.getElementById("entity-result").textContent.includes("clerks only")`)
}
