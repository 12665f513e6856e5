package config

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/understudy-go/understudy/cluster"
)

// FromEnv returns base with the settings of the environment variables that begin with prefix, such
// as "SHOP_"; see the package documentation for the keys. It returns an error for a value that is
// not allowed, and for a variable that is set but empty.
//
// A variable whose name is a misspelt key is an error too: one character is missing, too many or
// wrong, or two have changed places. SHOP_SECRET counts as misspelt, because a secret is read from
// a file. Other variables with that prefix are ignored, because platforms set some: Kubernetes does
// for every service.
func FromEnv(prefix string, base cluster.Config) (cluster.Config, error) {
	in := environment(prefix)
	errs := misspelt(prefix, os.Environ())
	for _, k := range keys {
		name := in.called(k.name)
		value, set := os.LookupEnv(name)
		if !set {
			continue
		}
		in.found[k.name] = setting{source: name, values: split(strings.TrimSpace(value), k.list)}
	}
	return in.apply(base, errs)
}

func environment(prefix string) *settings {
	return &settings{
		found:  map[string]setting{},
		wrong:  map[string]bool{},
		called: func(key string) string { return prefix + strings.ToUpper(key) },
		opens:  func(path string) string { return path },
		list:   func(values []string) string { return strings.Join(values, ",") },
		drop:   "unset the variable",
	}
}

func split(value string, list bool) []string {
	if value == "" {
		return nil
	}
	if !list {
		return []string{value}
	}
	all := strings.Split(value, ",")
	for i := range all {
		all[i] = strings.TrimSpace(all[i])
	}
	return all
}

// misspelt returns an error for each variable that begins with prefix and whose rest is nearly a
// key.
func misspelt(prefix string, variables []string) []error {
	called := environment(prefix).called
	meant := map[string]string{}
	for _, variable := range variables {
		name, _, _ := strings.Cut(variable, "=")
		rest, ours := strings.CutPrefix(name, prefix)
		if key := nearest(strings.ToLower(rest)); ours && key != "" && name != called(key) {
			meant[name] = called(key)
		}
	}
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(meant)) {
		errs = append(errs, fmt.Errorf("config: %s is not a key; did you mean %s?", name, meant[name]))
	}
	return errs
}
