package main

import (
	"fmt"
	"strings"
)

// A Switchboard has the rules of the switch between the nodes. Nodes are the numbers of their
// ports. The zero value lets all packets pass.
type Switchboard struct {
	Cut  map[[2]int]bool // from, to
	Loss map[int]int     // the share of a node's packets that are lost, in and out, in percent
	Drop map[int]string  // the protocol of which a node loses all packets, in and out
}

// cut cuts the direction from each node of one side to each node of the other.
func (s *Switchboard) cut(from, to []int) {
	if s.Cut == nil {
		s.Cut = make(map[[2]int]bool)
	}
	for _, f := range from {
		for _, t := range to {
			s.Cut[[2]int{f, t}] = true
		}
	}
}

func (s *Switchboard) lose(nodes []int, percent int) {
	if s.Loss == nil {
		s.Loss = make(map[int]int)
	}
	for _, n := range nodes {
		s.Loss[n] = percent
	}
}

// drop loses the packets from and to nodes of a protocol, tcp or udp.
func (s *Switchboard) drop(nodes []int, protocol string) {
	if s.Drop == nil {
		s.Drop = make(map[int]string)
	}
	for _, n := range nodes {
		s.Drop[n] = protocol
	}
}

// rules returns the switchboard for that many nodes as input of nft, which replaces the previous
// rules atomically.
func (s *Switchboard) rules(nodes int) string {
	var b strings.Builder
	b.WriteString("table bridge nemesis\ndelete table bridge nemesis\ntable bridge nemesis {\n\tchain forward {\n")
	b.WriteString("\t\ttype filter hook forward priority 0; policy accept;\n")
	for from := range nodes {
		for to := range nodes {
			if s.Cut[[2]int{from, to}] {
				fmt.Fprintf(&b, "\t\tiifname %q oifname %q drop\n", port(from), port(to))
			}
		}
	}
	for n := range nodes {
		if percent := s.Loss[n]; percent > 0 {
			fmt.Fprintf(&b, "\t\tiifname %q numgen random mod 100 < %d drop\n", port(n), percent)
			fmt.Fprintf(&b, "\t\toifname %q numgen random mod 100 < %d drop\n", port(n), percent)
		}
	}
	for n := range nodes {
		if protocol := s.Drop[n]; protocol != "" {
			fmt.Fprintf(&b, "\t\tiifname %q ip protocol %s drop\n", port(n), protocol)
			fmt.Fprintf(&b, "\t\toifname %q ip protocol %s drop\n", port(n), protocol)
		}
	}
	b.WriteString("\t}\n}\n")
	return b.String()
}

// port is the name of the link of a node at the switch.
func port(node int) string { return fmt.Sprintf("port%d", node+1) }
