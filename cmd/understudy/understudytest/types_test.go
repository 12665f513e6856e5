package understudytest

import (
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/cmd/understudy/internal/status"
	"github.com/understudy-go/understudy/internal/statuspage"
)

func TestTheCommandReadsWhatNodesServe(t *testing.T) {
	requirePart(t, reflect.TypeFor[status.Snapshot](), reflect.TypeFor[statuspage.Snapshot](), "status")
	requirePart(t, reflect.TypeFor[status.Actors](), reflect.TypeFor[statuspage.Actors](), "actors")
	requirePart(t, reflect.TypeFor[status.Details](), reflect.TypeFor[statuspage.Details](), "details")
	requirePart(t, reflect.TypeFor[status.History](), reflect.TypeFor[statuspage.History](), "history")
	requirePart(t, reflect.TypeFor[status.DeadLetters](), reflect.TypeFor[statuspage.DeadLetters](), "dead-letters")
	requirePart(t, reflect.TypeFor[status.GivenUp](), reflect.TypeFor[statuspage.GivenUp](), "given-up")
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
		require.Equal(t, part, whole, path)
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
