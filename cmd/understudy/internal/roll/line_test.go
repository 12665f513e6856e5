package roll

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestALineHasTheSettingsOfEachNode(t *testing.T) {
	l, err := parseLine("SHOP_BIND={node} SHOP_SEEDS={seeds} SHOP_ROLES= {program} -http :{http-port} -journal={journal} a=b")
	require.NoError(t, err)
	n := &node{name: "n2", address: "127.0.0.1:1", http: "127.0.0.1:2", seeds: "127.0.0.1:3,127.0.0.1:1", journal: "/tmp/copy.db"}
	args, env := l.command(n)
	require.Equal(t, []string{"-http", ":2", "-journal=/tmp/copy.db", "a=b"}, args)
	require.Equal(t, []string{"SHOP_BIND=127.0.0.1:1", "SHOP_SEEDS=127.0.0.1:3,127.0.0.1:1", "SHOP_ROLES="}, env[len(env)-3:])
	require.Equal(t, "n2 127.0.0.1:1 1 127.0.0.1:2", n.fill("{name} {node} {node-port} {http}"))
}

func TestALineThatMakesNoSenseIsRefused(t *testing.T) {
	const line = "BIND={node} SEEDS={seeds} {program} -http {http} -journal {journal}"
	require.NoError(t, Check(line, "", "http://{http}/cluster/"))
	for want, text := range map[string]string{
		"has no {program}":              "BIND={node} SEEDS={seeds} HTTP={http} JOURNAL={journal}",
		`"./shop" is no NAME=value`:     "./shop {program}",
		"has no {node}":                 "SEEDS={seeds} {program} -http {http} -journal {journal}",
		"has no {seeds}":                "BIND={node} {program} -http {http} -journal {journal}",
		"has no {http}":                 "BIND={node} SEEDS={seeds} {program} -journal {journal}",
		"has no {journal}":              "BIND={node} SEEDS={seeds} {program} -http {http}",
		"-roll: {id} is no placeholder": line + " {id}",
	} {
		require.ErrorContains(t, Check(text, "", "http://{http}/"), want)
	}
	require.ErrorContains(t, Check(line, "", "http://127.0.0.1:80/"), "-page: ")
	require.ErrorContains(t, Check(line, "", "http://{http}/{x}"), "-page: {x} is no placeholder")
	require.ErrorContains(t, Check(line, "PUT /orders", "http://{http}/"), "-load: ")
	require.ErrorContains(t, Check(line, "PUT http://{htp}/orders", "http://{http}/"), "-load: {htp} is no placeholder")
	require.ErrorContains(t, Check(line, "PUT http://{http}/{order}", "http://{http}/"), "-load: {order} is no placeholder")
}
