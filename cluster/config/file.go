package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/understudy-go/understudy/cluster"
)

// FromFile returns base with the settings of the YAML or JSON file at path; see the package
// documentation for the keys. It returns an error if the file cannot be read, has no key, or has a
// second YAML document; for a key that does not exist, occurs twice or is empty; and for a value
// that is not allowed. A relative path in the file is relative to the folder of the file.
func FromFile(path string, base cluster.Config) (cluster.Config, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return cluster.Config{}, fmt.Errorf("config: %w", err)
	}
	entries, err := parse(text)
	if err != nil {
		return cluster.Config{}, fmt.Errorf("config: %s %w", path, err)
	}
	in, lines := inFile(path), map[string]int{}
	var errs []error
	for _, e := range entries {
		k := find(e.name)
		first, again := lines[e.name]
		switch source := fmt.Sprintf("%s:%d: %s", path, e.line, e.name); {
		case k == nil:
			errs = append(errs, fmt.Errorf("config: %s:%d: %w", path, e.line, unknown(e.name)))
		case again:
			errs = append(errs, fmt.Errorf("config: %s is set a second time; line %d sets it as well, remove one", source, first))
		default:
			lines[e.name] = e.line
			values, err := k.read(e.value)
			in.found[k.name] = setting{source, values, err}
		}
	}
	return in.apply(base, errs)
}

func inFile(path string) *settings {
	return &settings{
		found:  map[string]setting{},
		wrong:  map[string]bool{},
		called: func(key string) string { return key },
		opens: func(p string) string {
			if filepath.IsAbs(p) {
				return p
			}
			return filepath.Join(filepath.Dir(path), p)
		},
		list: func(values []string) string { return `["` + strings.Join(values, `", "`) + `"]` },
		drop: "remove the key",
	}
}

func unknown(name string) error {
	if key := nearest(strings.ToLower(name)); key != "" {
		return fmt.Errorf("there is no key %q; did you mean %s?", name, key)
	}
	return fmt.Errorf("there is no key %q; the keys are %s", name, names())
}

type entry struct {
	name  string
	line  int
	value *yaml.Node
}

// parse returns the entries of a file. Its errors continue a sentence about the file.
func parse(text []byte) ([]entry, error) {
	documents := yaml.NewDecoder(bytes.NewReader(text))
	var document, second yaml.Node
	if err := documents.Decode(&document); errors.Is(err, io.EOF) {
		return nil, noKey()
	} else if err != nil {
		return nil, fmt.Errorf("is neither YAML nor JSON: %w", err)
	}
	if err := documents.Decode(&second); err == nil {
		return nil, fmt.Errorf("has a second document from line %d on, which would be ignored; keep one", second.Line)
	} else if !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("is neither YAML nor JSON: %w", err)
	}
	top := document.Content[0]
	if top.Kind != yaml.MappingNode && top.Tag != "!!null" {
		return nil, fmt.Errorf("is %s; write the keys at the top, such as \"name: shop\"", shape(top))
	}
	var entries []entry
	for i := 0; i+1 < len(top.Content); i += 2 {
		key := top.Content[i]
		entries = append(entries, entry{name: key.Value, line: key.Line, value: resolved(top.Content[i+1])})
	}
	if len(entries) == 0 {
		return nil, noKey()
	}
	return entries, nil
}

func noKey() error { return fmt.Errorf("has no key; the keys are %s", names()) }

func resolved(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		return n.Alias
	}
	return n
}

func shape(n *yaml.Node) string {
	switch n.Kind {
	case yaml.SequenceNode:
		return "a list"
	case yaml.MappingNode:
		return "a mapping"
	default:
		return fmt.Sprintf("%q", n.Value)
	}
}

func (k *key) read(n *yaml.Node) (values []string, err error) {
	switch {
	case n.Tag == "!!null" || n.Kind == yaml.ScalarNode && n.Value == "":
		return nil, nil
	case !k.list && n.Kind == yaml.ScalarNode:
		return []string{n.Value}, nil
	case !k.list:
		return nil, fmt.Errorf("is %s", shape(n))
	case n.Kind != yaml.SequenceNode:
		return nil, fmt.Errorf("is %s, which is not a list", shape(n))
	}
	for _, one := range n.Content {
		one = resolved(one)
		if one.Kind != yaml.ScalarNode {
			return nil, fmt.Errorf("has %s as an element", shape(one))
		}
		if one.Tag == "!!null" {
			one.Value = ""
		}
		values = append(values, one.Value)
	}
	return values, nil
}
