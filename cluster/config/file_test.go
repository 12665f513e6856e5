package config_test

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/cluster"
	"github.com/understudy-go/understudy/cluster/config"
)

func TestErrorsOfAFileNameTheLineOfTheKey(t *testing.T) {
	for text, want := range map[string]string{
		"bnid: here":                  `:1: there is no key "bnid"; did you mean bind?`,
		"cluster:\n  name: x":         `:1: there is no key "cluster"; the keys are name`,
		"seed:\n  - n1:7355":          `:1: there is no key "seed"; did you mean seeds?`,
		"NodeID: n1":                  `:1: there is no key "NodeID"; did you mean node_id?`,
		"secret: x":                   `:1: there is no key "secret"; did you mean secret_file?`,
		"bind: a:1\nseeds: n1:1,n2:1": `:2: seeds is "n1:1,n2:1", which is not a list; allowed is a list of host:port, such as ["n1.shop.internal:7355", "n2.shop.internal:7355"]`,
		"roles: {web: 1}":             `:1: roles is a mapping, which is not a list; allowed is a list of roles`,
		"roles: [[web]]":              `:1: roles has a list as an element; allowed is a list of roles`,
		"name: [a]":                   `:1: name is a list; allowed is 1 to 255 letters`,
		"detector: {interval: 500}":   `:1: detector is a mapping; allowed is lan, wan or local`,
		"min_members: 2.5":            `:1: min_members is "2.5", which is not a count; allowed is a whole number`,
		"name: a\nname: b":            `:2: name is set a second time; line 1 sets it as well, remove one`,
		"bind: a:1\nseeds: []":        `:2: seeds is empty; remove the key, or give it a value: allowed is a list of host:port, such as ["n1.`,
		"seeds:":                      `:1: seeds is empty; remove the key`,
		"name: ''":                    `:1: name is empty; remove the key`,
		"secret_file:":                `:1: secret_file is empty; remove the key`,
		"seeds:\n  -\n  - n1:1":       `:1: seeds is ",n1:1", which has an empty element`,
		"tls_cert: [a]\ntls_key: no.key\ntls_ca: no.pem": `:1: tls_cert is a list; allowed is the path of a PEM file`,
	} {
		path := write(t, "shop.yaml", text)
		cfg, err := config.FromFile(path, cluster.Config{Name: "shop"})
		require.ErrorContains(t, err, "config: "+path+want, text)
		require.Equal(t, cluster.Config{}, cfg)
	}
}

func TestAFileHasOneDocumentWithKeysAtTheTop(t *testing.T) {
	for text, want := range map[string]string{
		"":                           " has no key; the keys are name, node_id,",
		"# seeds: [n1:7355]":         " has no key; ",
		"{}":                         " has no key; ",
		"~":                          " has no key; ",
		"name: a\n---\nname: b":      " has a second document from line 2 on, which would be ignored; keep one",
		"name: a\n---\nname: [":      " is neither YAML nor JSON: ",
		"- a\n- b":                   ` is a list; write the keys at the top, such as "name: shop"`,
		"bind:7000":                  ` is "bind:7000"; write the keys at the top`,
		`{"name":"shop" "bind":"a"}`: " is neither YAML nor JSON: ",
	} {
		path := write(t, "shop.yaml", text)
		_, err := config.FromFile(path, cluster.Config{})
		require.ErrorContains(t, err, "config: "+path+want, text)
	}
	_, err := config.FromFile("/nowhere.yaml", cluster.Config{})
	require.ErrorIs(t, err, os.ErrNotExist)
}

func TestAValueOfAFileMayBeAnAlias(t *testing.T) {
	cfg, err := config.FromFile(write(t, "shop.yaml", "---\nname: &n shop\nnode_id: *n\nroles: [*n]\n"), cluster.Config{})
	require.NoError(t, err)
	require.Equal(t, cluster.Config{Name: "shop", NodeID: "shop", Roles: []string{"shop"}}, cfg)
}
