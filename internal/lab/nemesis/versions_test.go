//go:build linux

package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// earlier is the commit of the other version. Move it to the last release once there is one.
const earlier = "8e1c9ddd1de58643f81a5c0608cb54489a13d735"

var five = flag.Bool("five", false, "change the versions of five nodes, too, both ways, with kills")

// schema makes the tables of the journal, with the package it needs for that. The earlier program
// gets both from this checkout: no build opens tables that a later one has migrated, so that no
// node could go back, whatever else the versions agree on. The statements of the earlier commit
// then work on the tables of this checkout, as they must while a migration is rolled out.
var schema = []string{"persistence/sqlite/schema.go", "persistence/internal/sqltable"}

// earlierProgram returns this program, built from the earlier commit in a directory of the test,
// with the tables of this checkout.
func earlierProgram(t *testing.T) string {
	t.Helper()
	needNetwork(t)
	root, err := filepath.Abs("../../..")
	require.NoError(t, err)
	git := []string{"git", "-c", "safe.directory=*", "-C", root}
	if exec.CommandContext(t.Context(), git[0], append(git[1:], "cat-file", "-e", earlier)...).Run() != nil {
		t.Skip("the history of this clone does not reach back to " + earlier)
	}
	source, program := t.TempDir(), filepath.Join(t.TempDir(), "nemesis")
	archive := filepath.Join(source, "source.tar")
	steps := [][]string{
		append(git, "archive", "-o", archive, earlier),
		{"tar", "-xf", archive, "-C", source},
	}
	for _, path := range schema {
		steps = append(steps, []string{"cp", "-r", filepath.Join(root, path), filepath.Dir(filepath.Join(source, path)) + "/"})
	}
	steps = append(steps, []string{"go", "build", "-C", filepath.Join(source, "internal/lab/nemesis"), "-buildvcs=false", "-o", program, "."})
	for _, step := range steps {
		out, err := exec.CommandContext(t.Context(), step[0], step[1:]...).CombinedOutput()
		require.NoError(t, err, "%v: %s", step, out)
	}
	return program
}

// Both versions are in one cluster while its nodes change from one to the other, and clients write
// all the while.
func TestANodeAfterTheOtherChangesItsVersionAndBack(t *testing.T) {
	other := earlierProgram(t)
	s := newStage(t, options{nodes: 3, secret: newSecret(), other: other, programs: []string{other, other, other}}, nil)
	s.play("Upgrade", func(s *stage) { s.changeAll(0, 1, 2) })
	s.play("RollBackOne", func(s *stage) { s.changeAll(1) })
	s.play("KillTheHostAndRollItBack", (*stage).changeTheHostByKill)
	s.play("KillAllAndChangeThem", (*stage).changeAllByKill)
	s.finish()
	require.NoError(t, s.verify(t.Context()))
	require.Empty(t, s.violations)
}

func TestFiveNodesChangeTheirVersionBothWays(t *testing.T) {
	if !*five {
		t.Skip("it takes two minutes: run it with -five")
	}
	other := earlierProgram(t)
	s := newStage(t, options{nodes: 5, other: other}, nil)
	s.play("RollBack", func(s *stage) { s.changeAll(4, 2, 0, 1, 3) })
	s.play("Upgrade", func(s *stage) { s.changeAll(1, 0, 3, 4, 2) })
	for range 4 {
		s.play("KillTheHostAndChangeIt", (*stage).changeTheHostByKill)
	}
	s.play("KillAllAndChangeThem", (*stage).changeAllByKill)
	s.finish()
	require.NoError(t, s.verify(t.Context()))
	require.Empty(t, s.violations)
}

// changeAll lets one node after the other leave, and starts it as the other version.
func (s *stage) changeAll(nodes ...int) {
	from := clock()
	for _, n := range nodes {
		at := s.change(Leave, n)
		s.repaired()
		require.NoError(s.t, s.awaitSettled(s.t.Context(), true))
		s.acknowledged(at, time.Second+loaded) // a hand-over
	}
	s.mixedAsPlanned()
	s.noneSees(s.others(nil), from, "a member is down", kind("MemberDowned", ""))
}

func (s *stage) changeTheHostByKill() {
	host, _ := s.leading()
	at := s.change(Kill, host)
	s.repaired()
	require.NoError(s.t, s.awaitSettled(s.t.Context(), true))
	s.acknowledged(at, decision+loaded)
}

func (s *stage) changeAllByKill() {
	all := s.others(nil)
	s.change(KillAll, all...)
	s.repaired()
	require.NoError(s.t, s.awaitSettled(s.t.Context(), true))
}

// mixedAsPlanned fails unless the process of each node is of the version that it should be.
func (s *stage) mixedAsPlanned() {
	s.t.Helper()
	for n, p := range s.running {
		runs, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", p.PID()))
		require.NoError(s.t, err)
		require.Equal(s.t, s.programs[n] != "", runs == s.other, "%s runs %s", nodeName(n), runs)
	}
}

// change ends the processes of nodes; the next ones are of the other version. It returns the time.
func (s *stage) change(kind Kind, nodes ...int) time.Duration {
	s.t.Helper()
	require.NoError(s.t, s.inject(Fault{Kind: kind, Targets: nodes, Change: true}, false))
	return s.injections[len(s.injections)-1].at
}
