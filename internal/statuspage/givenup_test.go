package statuspage

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestMessagesThatWereGivenUpAreServedAsJSON(t *testing.T) {
	source := newFake()
	source.givenUp = GivenUp{Node: "n1", Time: time.Unix(8, 0).UTC(), Messages: []GivenUpMessage{
		{Number: 3, Singleton: "till", Type: "shop.Order", Reason: "the drawer is stuck", Time: time.Unix(7, 0).UTC()},
	}}
	w := ask(New(source, Options{}), "GET", "/given-up")
	require.JSONEq(t, `{"node": "n1", "time": "1970-01-01T00:00:08Z", "messages": [
		{"number": 3, "singleton": "till", "type": "shop.Order", "reason": "the drawer is stuck", "time": "1970-01-01T00:00:07Z"}]}`, w.Body.String())
}
