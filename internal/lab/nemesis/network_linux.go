package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
)

// A Network is a switch with nodes that are linked to it, each in a network namespace of its own.
// The names of the namespaces contain the process ID. Networks of several processes therefore do
// not collide, and the remains of an ended process can be recognized.
type Network struct {
	nodes int
	delay []string // the arguments of tc for a slow link; nil when there is no way to have one
	board Switchboard

	unplugged, slowed map[int]bool
}

const prefix = "und"

// slowness are queueing disciplines that make a link slow, the better one first. The first delays
// packets; the second has a low rate, so that packets wait for each other.
var slowness = [][]string{
	{"netem", "delay", "80ms", "40ms"},
	{"tbf", "rate", "256kbit", "burst", "4kb", "latency", "400ms"},
}

// possible returns the reason why this machine cannot have such a network, or nil.
func possible() error {
	if os.Geteuid() != 0 {
		return errors.New("network namespaces need root")
	}
	for _, program := range []string{"ip", "tc", "nft"} {
		if _, err := exec.LookPath(program); err != nil {
			return fmt.Errorf("install iproute2 and nftables: %w", err)
		}
	}
	n := &Network{nodes: 1}
	defer n.close()
	return n.build()
}

// newNetwork builds a network, and removes the networks of processes that have ended.
func newNetwork(nodes int) (*Network, error) {
	if err := sweep(); err != nil {
		return nil, err
	}
	n := &Network{nodes: nodes, unplugged: make(map[int]bool), slowed: make(map[int]bool)}
	if err := n.build(); err != nil {
		n.close()
		return nil, err
	}
	for _, way := range slowness {
		if n.qdisc("add", 0, way) == nil && n.qdisc("del", 0, nil) == nil {
			n.delay = way
			break
		}
	}
	return n, nil
}

// space is the name of the namespace of a node, or of the switch.
func space(of string) string { return fmt.Sprintf("%s-%d-%s", prefix, os.Getpid(), of) }

// nodeName names a node and its namespace.
func nodeName(node int) string { return fmt.Sprintf("n%d", node+1) }

// nodeNames returns the names of the first nodes.
func nodeNames(nodes int) (all []string) {
	for n := range nodes {
		all = append(all, nodeName(n))
	}
	return all
}

// address is where a node listens, in its namespace.
func address(node int) string { return host(node) + ":7355" }

func host(node int) string { return fmt.Sprintf("10.77.0.%d", node+1) }

func (n *Network) build() error {
	steps := [][]string{
		{"netns", "add", space("switch")},
		{"-n", space("switch"), "link", "add", "bridge0", "type", "bridge"},
		{"-n", space("switch"), "link", "set", "bridge0", "up"},
	}
	for node := range n.nodes {
		ns := space(nodeName(node))
		steps = append(
			steps,
			[]string{"netns", "add", ns},
			[]string{"link", "add", "name", port(node), "netns", space("switch"), "type", "veth", "peer", "name", "eth0", "netns", ns},
			[]string{"-n", space("switch"), "link", "set", port(node), "master", "bridge0", "up"},
			[]string{"-n", ns, "address", "add", host(node) + "/24", "dev", "eth0"},
			[]string{"-n", ns, "link", "set", "eth0", "up"},
			[]string{"-n", ns, "link", "set", "lo", "up"},
		)
	}
	for _, step := range steps {
		if err := command("", "ip", step...); err != nil {
			return err
		}
	}
	return n.apply()
}

// apply makes the switch apply the rules of the board.
func (n *Network) apply() error {
	return command(n.board.rules(n.nodes), "ip", "netns", "exec", space("switch"), "nft", "-f", "-")
}

// unplug takes the link of a node down.
func (n *Network) unplug(node int) error {
	n.unplugged[node] = true
	return n.link(node, "down")
}

func (n *Network) link(node int, state string) error {
	return command("", "ip", "-n", space("switch"), "link", "set", port(node), state)
}

// slow delays the packets of a node.
func (n *Network) slow(node int) error {
	n.slowed[node] = true
	return n.qdisc("replace", node, n.delay)
}

func (n *Network) qdisc(what string, node int, way []string) error {
	args := append([]string{"-n", space(nodeName(node)), "qdisc", what, "dev", "eth0", "root"}, way...)
	return command("", "tc", args...)
}

// repair restores the initial state of the network.
func (n *Network) repair() error {
	n.board = Switchboard{}
	errs := []error{n.apply()}
	for node := range n.unplugged {
		errs = append(errs, n.link(node, "up"))
	}
	for node := range n.slowed {
		errs = append(errs, n.qdisc("del", node, nil))
	}
	clear(n.unplugged)
	clear(n.slowed)
	return errors.Join(errs...)
}

// close removes the network. All processes in it must have ended.
func (n *Network) close() {
	for node := range n.nodes {
		_ = command("", "ip", "netns", "del", space(nodeName(node))) // it may not exist
	}
	_ = command("", "ip", "netns", "del", space("switch"))
}

// sweep removes the namespaces of processes that have ended without doing so. Another process may
// sweep at the same time.
func sweep() error {
	out, err := exec.Command("ip", "netns", "list").Output()
	if err != nil {
		return fmt.Errorf("ip netns list: %w", err)
	}
	for line := range strings.Lines(string(out)) {
		name, _, _ := strings.Cut(strings.TrimSpace(line), " ")
		parts := strings.Split(name, "-")
		if len(parts) != 3 || parts[0] != prefix {
			continue
		}
		if lives(parts[1]) {
			continue
		}
		if err := command("", "ip", "netns", "del", name); err != nil && exists("/run/netns/"+name) {
			return err
		}
	}
	return nil
}

// lives reports whether there is a process of that number that has not ended.
func lives(pid string) bool {
	line, err := os.ReadFile("/proc/" + pid + "/cmdline")
	return err == nil && len(line) > 0 // one that has ended, and nobody has noticed, has none
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return !errors.Is(err, os.ErrNotExist)
}

// command runs a program with an input.
func command(input, name string, args ...string) error {
	cmd := exec.Command(name, args...)
	cmd.Stdin = strings.NewReader(input)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s %s: %w: %s", name, strings.Join(args, " "), err, bytes.TrimSpace(out))
	}
	return nil
}
