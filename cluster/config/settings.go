package config

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/understudy-go/understudy/cluster"
)

// FromEnv returns base with the settings of the environment variables that begin with prefix, such
// as "SHOP_"; see the package documentation for the keys. Other variables with that prefix are
// ignored, because platforms set some: Kubernetes does for every service. FromEnv returns an error
// for a value that is not allowed.
func FromEnv(prefix string, base cluster.Config) (cluster.Config, error) {
	found := map[string]setting{}
	for _, k := range keys {
		name := prefix + strings.ToUpper(k.name)
		if value := strings.TrimSpace(os.Getenv(name)); value != "" {
			found[k.name] = setting{source: name, values: split(value, k.list)}
		}
	}
	return apply(base, found)
}

// split returns the values of an environment variable.
func split(value string, list bool) []string {
	if !list {
		return []string{value}
	}
	var all []string
	for one := range strings.SplitSeq(value, ",") {
		if one = strings.TrimSpace(one); one != "" {
			all = append(all, one)
		}
	}
	return all
}

// FromFile returns base with the settings of the YAML or JSON file at path; see the package
// documentation for the keys. It returns an error if the file cannot be read, for a key that does
// not exist or occurs twice, and for a value that is not allowed.
func FromFile(path string, base cluster.Config) (cluster.Config, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return cluster.Config{}, fmt.Errorf("config: %w", err)
	}
	var entries map[string]yaml.Node
	if err := yaml.Unmarshal(text, &entries); err != nil {
		return cluster.Config{}, fmt.Errorf("config: %s is neither YAML nor JSON with keys at the top: %w", path, err)
	}
	found := map[string]setting{}
	var errs []error
	for name, node := range entries {
		k := find(name)
		if k == nil {
			errs = append(errs, fmt.Errorf("config: %s:%d: there is no key %q; the keys are %s", path, node.Line, name, names()))
			continue
		}
		source := fmt.Sprintf("%s:%d: %s", path, node.Line, name)
		values, err := k.read(&node)
		if err != nil {
			errs = append(errs, fmt.Errorf("config: %s must be %s: %w", source, k.allowed, err))
		} else if len(values) > 0 {
			found[name] = setting{source, values}
		}
	}
	slices.SortFunc(errs, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	cfg, err := apply(base, found)
	if err := errors.Join(append(errs, err)...); err != nil {
		return cluster.Config{}, err
	}
	return cfg, nil
}

// read returns the values of a key in a file; none for an empty one.
func (k *key) read(n *yaml.Node) (values []string, err error) {
	if !k.list {
		var value string
		if err := n.Decode(&value); err != nil || value == "" {
			return nil, err
		}
		return []string{value}, nil
	}
	if err := n.Decode(&values); err != nil {
		return nil, fmt.Errorf("it is not a list: %w", err)
	}
	return values, nil
}

// A setting is a key that is set.
type setting struct {
	source string   // where, for errors
	values []string // not empty; one unless the key is a list
}

// apply returns base with the settings, or all their errors.
func apply(base cluster.Config, found map[string]setting) (cluster.Config, error) {
	var errs []error
	for _, k := range keys {
		s, set := found[k.name]
		if !set || k.set == nil {
			continue
		}
		for _, value := range s.values {
			if k.check != nil {
				if err := k.check(value); err != nil {
					errs = append(errs, fmt.Errorf("config: %s is %q, which %w; allowed is %s", s.source, value, err, k.allowed))
				}
			}
		}
		if err := k.set(&base, s.values); err != nil {
			errs = append(errs, fmt.Errorf("config: %s is %q, %w; allowed is %s", s.source, strings.Join(s.values, ","), err, k.allowed))
		}
	}
	if err := applyTLS(&base, found); err != nil {
		errs = append(errs, err)
	}
	if len(errs) > 0 {
		return cluster.Config{}, errors.Join(errs...)
	}
	return base, nil
}
