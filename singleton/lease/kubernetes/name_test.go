package kubernetes

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/util/validation"
)

func TestNamesOfObjectsAreValidAndDiffer(t *testing.T) {
	names := []string{
		"register", "register.v2", "Register", "REGISTER", "register ", "", "-", "ä", "ü", "a/b", "a.b", "a..b", "a_b", "../a",
		"system:node", strings.Repeat("x", 200), strings.Repeat("X", 200), strings.Repeat("é", 100), "a\x00b", "%2F",
	}
	for _, name := range slices.Clone(names) {
		names = append(names, ObjectName(name)) // what we make up may be somebody's name, too
	}
	seen := map[string]string{}
	for _, name := range names {
		object := ObjectName(name)
		require.Empty(t, validation.IsDNS1123Subdomain(object), "%q", name)
		if other, ok := seen[object]; ok {
			require.Equal(t, other, name, "both are in %s", object)
		}
		seen[object] = name
	}
	require.Equal(t, "register", ObjectName("register"))
	require.Regexp(t, `^globalcounter-[0-9a-f]{20}$`, ObjectName("GlobalCounter"))
}

func TestAnObjectOfAnotherLeaseIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newAPIServer()
		o := newObject("register")
		o.Annotations[NameAnnotation] = "Register"
		server.put(o)
		_, err := newStore(t, server).Take(t.Context(), claim("a"))
		require.ErrorContains(t, err, `the object belongs to the lease "Register", not to "register"`)
	})
}

func TestAnObjectThatAnAdministratorMadeIsUsed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newAPIServer()
		o := newObject("register")
		o.Annotations = nil
		server.put(o)
		require.Equal(t, uint64(1), take(t, newStore(t, server), "a").Token)
		require.Equal(t, "register", server.get("register").Annotations[NameAnnotation])
	})
}
