package main

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
)

// sweep removes the networks of processes that have ended without doing so: two networks with the
// same addresses disturb each other.
func sweep() error {
	out, err := exec.Command("ip", "netns", "list").Output()
	if err != nil {
		return fmt.Errorf("ip netns list: %w", err)
	}
	for line := range strings.Lines(string(out)) {
		name, _, _ := strings.Cut(strings.TrimSpace(line), " ")
		parts := strings.Split(name, "-")
		if len(parts) != 3 || parts[0] != spacePrefix {
			continue
		}
		if lives(parts[1]) {
			return fmt.Errorf("process %s has such a network already", parts[1])
		}
		_ = ip("link", "del", uplink(parts[1])) // the namespaces of its network come one by one
		if err := ip("netns", "del", name); err != nil {
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
