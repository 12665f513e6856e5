package report

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/cmd/understudy/internal/status"
)

func TestEventsOfSeveralNodesAreInTheOrderOfTime(t *testing.T) {
	event := func(node, kind string, seconds int) status.Event {
		return status.Event{Node: node, Kind: kind, Count: 1, Last: noon.Add(time.Duration(seconds) * time.Second)}
	}
	anna := status.History{Node: "anna", Events: []status.Event{event("anna", "downing", 5), event("anna", "member unreachable", 1)}}
	bert := status.History{Node: "bert", Events: []status.Event{event("bert", "singleton moved", 7), event("bert", "member down", 5)}}
	all := EventsOf([]status.History{bert, anna, bert}, []string{"http://c: refused"})
	require.Equal(t, []status.Event{
		event("anna", "member unreachable", 1), event("anna", "downing", 5), event("bert", "member down", 5), event("bert", "singleton moved", 7),
	}, all.Events, "a node that was asked twice counts once")
	require.Equal(t, []string{"http://c: refused"}, all.Silent)
	require.Equal(t, Events{Events: []status.Event{}, Silent: []string{}}, EventsOf(nil, nil))
}
