package config

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/understudy-go/understudy/cluster"
)

// A settings has the keys that one source sets, and how that source writes them.
type settings struct {
	found  map[string]setting
	wrong  map[string]bool              // by key, whether its value is not allowed
	called func(key string) string      // how the source names a key, for errors
	opens  func(path string) string     // the path to open for one in the source
	list   func(values []string) string // how the source writes a list, for errors
	drop   string                       // how to leave a key out, for errors
}

type setting struct {
	source string   // where, for errors
	values []string // one unless the key is a list; none if it is empty
	err    error    // why there is no value; it continues source
}

func (s setting) String() string {
	return fmt.Sprintf("%s is %q", s.source, strings.Join(s.values, ","))
}

func (in *settings) allowed(k key) string {
	if k.list {
		return k.allowed + ", such as " + in.list(k.such)
	}
	return k.allowed
}

// apply returns base with the settings; or errs and all errors of the settings.
func (in *settings) apply(base cluster.Config, errs []error) (cluster.Config, error) {
	cfg := base
	for _, k := range keys {
		s, set := in.found[k.name]
		if !set {
			continue
		}
		problems := in.check(k, s)
		if len(problems) == 0 && k.set != nil {
			if err := k.set(&cfg, in.opened(k, s)); err != nil {
				problems = append(problems, in.refuse(k, s, strings.Join(s.values, ","), err))
			}
		}
		in.wrong[k.name] = len(problems) > 0
		errs = append(errs, problems...)
	}
	errs = append(errs, in.together(base)...)
	errs = append(errs, in.applyTLS(&cfg))
	if err := errors.Join(errs...); err != nil {
		return cluster.Config{}, err
	}
	return cfg, nil
}

func (in *settings) check(k key, s setting) (errs []error) {
	if s.err != nil {
		return []error{fmt.Errorf("config: %s %w; allowed is %s", s.source, s.err, in.allowed(k))}
	}
	if len(s.values) == 0 && !k.mayBeEmpty {
		return []error{fmt.Errorf("config: %s is empty; %s, or give it a value: allowed is %s", s.source, in.drop, in.allowed(k))}
	}
	if slices.Contains(s.values, "") {
		return []error{in.refuse(k, s, strings.Join(s.values, ","), errors.New("has an empty element"))}
	}
	for i, value := range in.opened(k, s) {
		var err error
		switch {
		case slices.Contains(s.values[:i], value):
			err = errors.New("occurs twice")
		case k.check != nil:
			err = k.check(value)
		}
		if err != nil {
			errs = append(errs, in.refuse(k, s, s.values[i], err))
		}
	}
	return errs
}

func (in *settings) refuse(k key, s setting, value string, err error) error {
	return fmt.Errorf("config: %s is %q, which %w; allowed is %s", s.source, value, err, in.allowed(k))
}

// opened returns the values of a setting. Paths are as they must be opened.
func (in *settings) opened(k key, s setting) []string {
	if !k.path {
		return s.values
	}
	var all []string
	for _, value := range s.values {
		all = append(all, in.opens(value))
	}
	return all
}

func (in *settings) together(base cluster.Config) (errs []error) {
	if s, set := in.found["min_seeds"]; set && base.Discovery == nil {
		errs = append(errs, fmt.Errorf("config: %s, but it belongs to discovery, and the program has set no Discovery; %s, or set Discovery in the base", s, in.drop))
	}
	secret, hasSecret := in.found["secret_file"]
	certificate, hasTLS := in.firstOfTLS()
	switch {
	case hasSecret && hasTLS:
		errs = append(errs, fmt.Errorf("config: %s and %s, but a node has one identity; leave out %s, or %s", certificate, secret, in.called("secret_file"), in.callAll(tlsKeys)))
	case hasSecret && base.TLS != nil:
		errs = append(errs, fmt.Errorf("config: %s, but the base has TLS, and a node has one identity; %s, or leave TLS out of the base", secret, in.drop))
	case hasTLS && len(base.Secret) > 0:
		errs = append(errs, fmt.Errorf("config: %s, but the base has a Secret, and a node has one identity; %s, or leave Secret out of the base", certificate, in.drop))
	}
	return append(errs, in.partOfTLS()...)
}

func (in *settings) callAll(keys []string) string {
	var all []string
	for _, k := range keys {
		all = append(all, in.called(k))
	}
	return strings.Join(all, " and ")
}
