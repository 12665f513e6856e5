package understudytest

import (
	"context"
	"encoding"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/cluster/cron"
	"github.com/understudy-go/understudy/cluster/placement"
	"github.com/understudy-go/understudy/cluster/sharding"
	"github.com/understudy-go/understudy/cmd/understudy/internal/status"
	sections "github.com/understudy-go/understudy/internal/status"
	"github.com/understudy-go/understudy/internal/statuspage"
	"github.com/understudy-go/understudy/persistence/journal"
)

func TestTheCommandReadsWhatNodesServe(t *testing.T) {
	requirePart(t, reflect.TypeFor[status.Snapshot](), reflect.TypeFor[statuspage.Snapshot](), "status")
	requirePart(t, reflect.TypeFor[status.Actors](), reflect.TypeFor[statuspage.Actors](), "actors")
	requirePart(t, reflect.TypeFor[status.History](), reflect.TypeFor[statuspage.History](), "history")
	requirePart(t, reflect.TypeFor[status.DeadLetters](), reflect.TypeFor[statuspage.DeadLetters](), "dead-letters")
	requirePart(t, reflect.TypeFor[status.Entity](), reflect.TypeFor[statuspage.Entity](), "entity")
	requirePart(t, reflect.TypeFor[status.Resent](), reflect.TypeFor[statuspage.Resent](), "resend")
	requirePart(t, reflect.TypeFor[status.Retried](), reflect.TypeFor[statuspage.Retried](), "retry")
	requirePart(t, reflect.TypeFor[status.GivenUp](), reflect.TypeFor[statuspage.GivenUp](), "given-up")
}

// The fields of the details come from the packages that a node uses.
func TestTheCommandReadsTheDetailsThatNodesServe(t *testing.T) {
	n := start(t, []string{"anna"})[0]
	_, err := cron.Start(n.Node, cron.Config{Jobs: map[string]cron.Job{"audit": cron.Func(func(context.Context, cron.Run) error { return nil })}})
	require.NoError(t, err)
	_, err = placement.Start(n.Node, placement.Config{})
	require.NoError(t, err)
	_, err = sharding.Start(n.Node, "cart", func(sharding.Entity) actor.Behavior[int] { return idle() })
	require.NoError(t, err)
	actor.Spawn(n.Node, projectionOf(journal.NewMemory()).Behavior(), "prices")
	n.eventually(t, "memory", "status") // a coordinator uses its journal
	served, _ := sections.Read(n.System)
	for field := range reflect.TypeFor[status.Details]().Fields() {
		name := field.Tag.Get("json")
		require.Contains(t, served, name)
		requirePart(t, field.Type, reflect.TypeOf(served[name]), "details."+name)
	}
}

// requirePart fails unless each field of part has the same JSON name and type in whole.
func requirePart(t *testing.T, part, whole reflect.Type, path string) {
	t.Helper()
	if part.Kind() != reflect.Struct || part.PkgPath() != reflect.TypeFor[status.Snapshot]().PkgPath() {
		if part.Kind() == reflect.Slice || part.Kind() == reflect.Pointer {
			require.Equal(t, part.Kind(), whole.Kind(), path)
			requirePart(t, part.Elem(), whole.Elem(), path)
			return
		}
		if part.Kind() != reflect.String || !whole.Implements(reflect.TypeFor[encoding.TextMarshaler]()) {
			require.Equal(t, part, whole, path)
		}
		return
	}
	for field := range part.Fields() {
		name := field.Tag.Get("json")
		found := false
		for served := range whole.Fields() {
			if served.Tag.Get("json") == name {
				found = true
				requirePart(t, field.Type, served.Type, path+"."+name)
			}
		}
		require.True(t, found && name != "" && !strings.Contains(name, ","), "%s: nodes serve no %q", path, name)
	}
}
