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

// A key is one setting that an operator may change.
type key struct {
	name    string
	list    bool
	allowed string                                           // what a value may be, for errors
	check   func(value string) error                         // of each value; nil: none
	set     func(cfg *cluster.Config, values []string) error // nil: see applyTLS
}

var keys = []key{
	{name: "name", allowed: "letters, digits and -_.:~+", check: naming.CheckSystem, set: text(func(c *cluster.Config) *string { return &c.Name })},
	{name: "node_id", allowed: "1 to 255 bytes of UTF-8 without control characters", check: naming.Check, set: text(func(c *cluster.Config) *string { return &c.NodeID })},
	{name: "bind", allowed: "host:port, such as 0.0.0.0:7355", check: naming.CheckHostPort, set: text(func(c *cluster.Config) *string { return &c.Bind })},
	{name: "advertise", allowed: "host:port, such as n1.shop.internal:7355", check: naming.CheckHostPort, set: text(func(c *cluster.Config) *string { return &c.Advertise })},
	{name: "seeds", list: true, allowed: "a list of host:port, such as n1.shop.internal:7355", check: naming.CheckNode, set: texts(func(c *cluster.Config) *[]string { return &c.Seeds })},
	{name: "roles", list: true, allowed: "a list of roles, each 1 to 255 bytes of UTF-8 without control characters", check: naming.Check, set: texts(func(c *cluster.Config) *[]string { return &c.Roles })},
	{name: "min_seeds", allowed: aCount, set: count(func(c *cluster.Config) *int { return &c.MinSeeds })},
	{name: "min_members", allowed: aCount, set: count(func(c *cluster.Config) *int { return &c.MinMembers })},
	{name: "detector", allowed: "lan, wan or local", set: setDetector},
	{name: "downing", allowed: "keep-majority, keep-oldest, down-all, manual, static-quorum=SIZE or keep-referee=NODE_ID", set: setDowning},
	{name: "tls_cert", allowed: "the path of a PEM file"},
	{name: "tls_key", allowed: "the path of a PEM file"},
	{name: "tls_ca", allowed: "the path of a PEM file"},
	{name: "secret_file", allowed: "the path of a file with at least 16 random bytes", set: setSecret},
}

const aCount = "a whole number, 0 or more"

// find returns the key of that name, or nil.
func find(name string) *key {
	for i := range keys {
		if keys[i].name == name {
			return &keys[i]
		}
	}
	return nil
}

// names returns the names of all keys, for errors.
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
			return errors.New("which is not a count")
		}
		*field(c) = n
		return nil
	}
}

func setDetector(c *cluster.Config, values []string) error {
	presets := map[string]func() cluster.Detector{"lan": cluster.LAN, "wan": cluster.WAN, "local": cluster.Local}
	preset, ok := presets[values[0]]
	if !ok {
		return errors.New("which is not a preset")
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
	case ok && !has:
		c.Downing = strategy
	case name == "static-quorum":
		size, err := strconv.Atoi(of)
		if err != nil || size < 1 {
			return errors.New("whose SIZE is not more than half of the members")
		}
		c.Downing = downing.StaticQuorum{Size: size}
	case name == "keep-referee" && of != "":
		c.Downing = downing.KeepReferee{Name: of}
	default:
		return errors.New("which is not a strategy")
	}
	return nil
}

func setSecret(c *cluster.Config, values []string) error {
	secret, err := os.ReadFile(values[0])
	if err != nil {
		return fmt.Errorf("which cannot be read: %w", err)
	}
	if secret = bytes.TrimSpace(secret); len(secret) < 16 {
		return fmt.Errorf("which has %d bytes", len(secret))
	}
	c.Secret = secret
	return nil
}
