package config

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/understudy-go/understudy/cluster"
	"github.com/understudy-go/understudy/cluster/downing"
	"github.com/understudy-go/understudy/internal/naming"
)

type key struct {
	name       string
	list       bool
	path       bool                                             // whether the value is the path of a file
	mayBeEmpty bool                                             // whether an empty value has a meaning
	allowed    string                                           // what a value may be, for errors
	such       []string                                         // an example of a list, for errors
	check      func(value string) error                         // of each value; nil: none
	set        func(cfg *cluster.Config, values []string) error // nil: see applyTLS
}

// Errors of check and set begin with a verb: the value is their subject.

var keys = []key{
	{name: "name", allowed: naming.OfSystem, check: naming.CheckSystem, set: text(func(c *cluster.Config) *string { return &c.Name })},
	{name: "node_id", allowed: aName, check: naming.Check, set: text(func(c *cluster.Config) *string { return &c.NodeID })},
	{name: "bind", allowed: "host:port, such as 0.0.0.0:7355", check: naming.CheckHostPort, set: text(func(c *cluster.Config) *string { return &c.Bind })},
	{name: "advertise", allowed: "host:port, such as n1.shop.internal:7355", check: naming.CheckAdvertised, set: text(func(c *cluster.Config) *string { return &c.Advertise })},
	{name: "seeds", list: true, allowed: "a list of host:port", such: []string{"n1.shop.internal:7355", "n2.shop.internal:7355"}, check: naming.CheckNode, set: texts(func(c *cluster.Config) *[]string { return &c.Seeds })},
	{name: "roles", list: true, mayBeEmpty: true, allowed: "a list of roles, each " + aName, such: []string{"web", "worker"}, check: naming.Check, set: texts(func(c *cluster.Config) *[]string { return &c.Roles })},
	{name: "min_seeds", allowed: aCount, set: count(func(c *cluster.Config) *int { return &c.MinSeeds })},
	{name: "min_members", allowed: aCount, set: count(func(c *cluster.Config) *int { return &c.MinMembers })},
	{name: "detector", allowed: "lan, wan or local", set: setDetector},
	{name: "downing", allowed: "keep-majority, keep-oldest, down-all, manual, static-quorum=SIZE (more than half of the members) or keep-referee=NODE_ID", set: setDowning},
	{name: "tls_cert", path: true, allowed: "the path of a PEM file with the certificate of this node", check: readable},
	{name: "tls_key", path: true, allowed: "the path of a PEM file with the private key of this node", check: readable},
	{name: "tls_ca", path: true, allowed: "the path of a PEM file with certificates of authorities", check: checkAuthorities},
	{name: "secret_file", path: true, allowed: "the path of a file with at least 16 random bytes", set: setSecret},
}

const aName = "1 to 255 bytes of UTF-8 without control characters"

const aCount = "a whole number, 0 or more"

func find(name string) *key {
	for i := range keys {
		if keys[i].name == name {
			return &keys[i]
		}
	}
	return nil
}

func names() string {
	var all []string
	for _, k := range keys {
		all = append(all, k.name)
	}
	return strings.Join(all, ", ")
}

func text(field func(*cluster.Config) *string) func(*cluster.Config, []string) error {
	return func(c *cluster.Config, values []string) error {
		*field(c) = values[0]
		return nil
	}
}

func texts(field func(*cluster.Config) *[]string) func(*cluster.Config, []string) error {
	return func(c *cluster.Config, values []string) error {
		*field(c) = values
		return nil
	}
}

func count(field func(*cluster.Config) *int) func(*cluster.Config, []string) error {
	return func(c *cluster.Config, values []string) error {
		n, err := strconv.Atoi(values[0])
		if err != nil || n < 0 {
			return errors.New("is not a count")
		}
		*field(c) = n
		return nil
	}
}

func setDetector(c *cluster.Config, values []string) error {
	presets := map[string]func() cluster.Detector{"lan": cluster.LAN, "wan": cluster.WAN, "local": cluster.Local}
	preset, ok := presets[values[0]]
	if !ok {
		return errors.New("is not a preset")
	}
	c.Detector = preset()
	return nil
}

func setDowning(c *cluster.Config, values []string) error {
	name, of, has := strings.Cut(values[0], "=")
	simple := map[string]cluster.Downing{
		"keep-majority": downing.KeepMajority{}, "keep-oldest": downing.KeepOldest{}, "down-all": downing.DownAll{}, "manual": downing.Manual{},
	}
	switch strategy, ok := simple[name]; {
	case ok && has:
		return fmt.Errorf("gives something to %s, which takes nothing", name)
	case ok:
		c.Downing = strategy
	case name == "static-quorum":
		size, err := quorum(of)
		c.Downing = downing.StaticQuorum{Size: size}
		return err
	case name == "keep-referee" && of == "":
		return errors.New("has no NODE_ID")
	case name == "keep-referee":
		c.Downing = downing.KeepReferee{Name: of}
		return naming.Check(of)
	default:
		return errors.New("is not a strategy")
	}
	return nil
}

func quorum(of string) (int, error) {
	if of == "" {
		return 0, errors.New("has no SIZE")
	}
	size, err := strconv.Atoi(of)
	if err != nil || size < 1 {
		return 0, fmt.Errorf("has the SIZE %q, which is not a number of 1 or more", of)
	}
	return size, nil
}

func setSecret(c *cluster.Config, values []string) error {
	secret, err := os.ReadFile(values[0])
	if err != nil {
		return fmt.Errorf("cannot be read: %w", err)
	}
	if secret = bytes.TrimSpace(secret); len(secret) < 16 {
		return fmt.Errorf("has %d bytes", len(secret))
	}
	c.Secret = secret
	return nil
}

func readable(path string) error {
	if _, err := os.ReadFile(path); err != nil {
		return fmt.Errorf("cannot be read: %w", err)
	}
	return nil
}

// nearest returns the key that name is, or else one that it nearly is, or "".
func nearest(name string) string {
	if find(name) != nil {
		return name
	}
	if name == "secret" {
		return "secret_file" // a secret itself is not configured, and without one there is no authentication
	}
	for _, k := range keys {
		if oneEdit(name, k.name) {
			return k.name
		}
	}
	return ""
}

// oneEdit reports whether a becomes b when one byte is inserted, deleted or replaced, or when two
// neighbours change places.
func oneEdit(a, b string) bool {
	for a != "" && b != "" && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	for a != "" && b != "" && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	swapped := len(a) == 2 && len(b) == 2 && a[0] == b[1] && a[1] == b[0]
	return a != b && len(a) <= 1 && len(b) <= 1 || swapped
}
