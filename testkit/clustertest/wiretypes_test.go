//go:build !quick

package clustertest_test

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	_ "github.com/understudy-go/understudy/actor/delivery"
	_ "github.com/understudy-go/understudy/actor/receptionist"
	_ "github.com/understudy-go/understudy/cluster/cron"
	_ "github.com/understudy-go/understudy/cluster/placement"
	_ "github.com/understudy-go/understudy/cluster/sharding"
	"github.com/understudy-go/understudy/internal/codec"
	_ "github.com/understudy-go/understudy/persistence/projection"
)

// neverSent are fields that are lost, and zero in all that is sent.
var neverSent = map[string]string{
	"placement.SingletonSpec.err": "Submit refuses such a spec",
	"placement.Spec.err":          "Submit refuses such a spec",
	"home.Node.passing":           "View leaves it out",
	"delivery.sequenced.local":    "LocalOnly says so",
}

// The test kit refuses messages with fields that are lost on the way to another node. Those of the
// framework have none, so it never refuses them in the test of a user.
func TestEveryMessageOfTheFrameworkPassesTheCheckOfTheKit(t *testing.T) {
	const module = "github.com/understudy-go/understudy/"
	checked := 0
	for name, typ := range codec.Types() {
		path := typ.PkgPath()
		if !strings.HasPrefix(path, module) || strings.HasSuffix(path, "_test") || strings.HasPrefix(path, module+"testkit") {
			continue
		}
		checked++
		lost := map[string]bool{}
		findLost(typ, map[reflect.Type]bool{}, lost)
		maps.DeleteFunc(lost, func(field string, _ bool) bool { return neverSent[field] != "" })
		if len(lost) > 0 {
			t.Errorf("%s loses %v", name, slices.Sorted(maps.Keys(lost)))
		}
	}
	require.Greater(t, checked, 50)
}

// findLost adds the fields in t that are not encoded.
func findLost(t reflect.Type, seen map[reflect.Type]bool, lost map[string]bool) {
	if seen[t] || encodesItself(t) {
		return
	}
	seen[t] = true
	switch t.Kind() {
	case reflect.Struct:
		for f := range t.Fields() {
			switch {
			case f.Name == "_":
			case !f.IsExported() && !f.Anonymous, f.Tag.Get("cbor") == "-":
				lost[t.String()+"."+f.Name] = true
			default:
				findLost(f.Type, seen, lost)
			}
		}
	case reflect.Slice, reflect.Array, reflect.Pointer:
		findLost(t.Elem(), seen, lost)
	case reflect.Map:
		findLost(t.Key(), seen, lost)
		findLost(t.Elem(), seen, lost)
	}
}

func encodesItself(t reflect.Type) bool {
	for _, i := range []reflect.Type{
		reflect.TypeFor[interface{ MarshalCBOR() ([]byte, error) }](),
		reflect.TypeFor[interface{ MarshalBinary() ([]byte, error) }](),
	} {
		if t.Implements(i) || reflect.PointerTo(t).Implements(i) {
			return true
		}
	}
	return false
}
