package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
)

// A network is a switch with the nodes and the stores linked to it. Each node is in a network
// namespace of its own. The stores and the client are outside, at the address hub.
type network struct{ id string }

// spacePrefix begins the names of the namespaces. The number of the process follows.
const spacePrefix = "ktl"

// hub is the address of the stores and the client.
const hub = "10.79.0.254"

// newNetwork builds a network.
func newNetwork() (*network, error) {
	if os.Geteuid() != 0 {
		return nil, errors.New("network namespaces need root")
	}
	if err := sweep(); err != nil {
		return nil, err
	}
	n := &network{id: strconv.Itoa(os.Getpid())}
	if err := n.build(); err != nil {
		n.close()
		return nil, fmt.Errorf("build a network of namespaces: %w", err)
	}
	return n, nil
}

func (n *network) space(of string) string { return strings.Join([]string{spacePrefix, n.id, of}, "-") }

// uplink is the interface of the hub in the network of a process.
func uplink(id string) string { return spacePrefix + id }

func (n *network) host(node int) string { return fmt.Sprintf("10.79.0.%d", node+1) }

func port(node int) string { return fmt.Sprintf("port%d", node+1) }

func (n *network) build() error {
	board := n.space("switch")
	steps := [][]string{
		{"netns", "add", board},
		{"-n", board, "link", "add", "bridge0", "type", "bridge"},
		{"-n", board, "link", "set", "bridge0", "up"},
		{"link", "add", "name", uplink(n.id), "type", "veth", "peer", "name", "hub", "netns", board},
		{"-n", board, "link", "set", "hub", "master", "bridge0", "up"},
		{"address", "add", hub + "/24", "dev", uplink(n.id)},
		{"link", "set", uplink(n.id), "up"},
	}
	for node := range nodeCount {
		space := n.space(nodeName(node))
		steps = append(
			steps,
			[]string{"netns", "add", space},
			[]string{"link", "add", "name", port(node), "netns", board, "type", "veth", "peer", "name", "eth0", "netns", space},
			[]string{"-n", board, "link", "set", port(node), "master", "bridge0", "up"},
			[]string{"-n", space, "address", "add", n.host(node) + "/24", "dev", "eth0"},
			[]string{"-n", space, "link", "set", "eth0", "up"},
			[]string{"-n", space, "link", "set", "lo", "up"},
		)
	}
	for _, step := range steps {
		if err := ip(step...); err != nil {
			return err
		}
	}
	return nil
}

// cut takes the link of a node down, and plug takes it up.
func (n *network) cut(node int) error  { return n.link(node, "down") }
func (n *network) plug(node int) error { return n.link(node, "up") }

func (n *network) link(node int, state string) error {
	return ip("-n", n.space("switch"), "link", "set", port(node), state)
}

// close removes the network. All processes in it must have ended.
func (n *network) close() {
	for node := range nodeCount {
		_ = ip("netns", "del", n.space(nodeName(node))) // it may not exist
	}
	_ = ip("link", "del", uplink(n.id))
	_ = ip("netns", "del", n.space("switch"))
}

func ip(args ...string) error {
	if out, err := exec.Command("ip", args...).CombinedOutput(); err != nil {
		return fmt.Errorf("ip %s: %w: %s", strings.Join(args, " "), err, bytes.TrimSpace(out))
	}
	return nil
}
