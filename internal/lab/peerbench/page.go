package main

import (
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
)

// pageBegin is the line of a page above its tables.
const pageBegin = "<!-- figures: make bench-page -->\n"

// state says with which programs and on which machine all tables were made.
func (p plan) state(ctx context.Context, took time.Duration) []string {
	all := []string{
		fmt.Sprintf("`%s` made these tables in %v, in %d rounds.", strings.Join(append([]string{"go run ."}, p.shown()...), " "), took.Round(time.Second), p.rounds),
		fmt.Sprintf("Machine: %s, %s/%s, %s, GOMAXPROCS=%d.", runtime.Version(), runtime.GOOS, runtime.GOARCH, processor(), runtime.GOMAXPROCS(0)),
	}
	if commit := said(ctx, "git", "describe", "--always", "--dirty"); commit != "" {
		all = append(all, "Commit: "+commit+".")
	}
	versions := said(ctx, "go", "list", "-m", "-f", "{{.Path}} {{.Version}}", "github.com/anthdm/hollywood", "github.com/asynkron/protoactor-go")
	all = append(all, "Peers: "+strings.ReplaceAll(versions, "\n", ", ")+".")
	for _, library := range slices.Sorted(maps.Keys(checkouts)) {
		is := "did not run"
		if dir := p.checkouts[library]; dir != "" {
			is = said(ctx, "sh", "-c", `cd "$0" && `+checkouts[library].release, dir)
		}
		all = append(all, fmt.Sprintf("%s: %s.", library, is))
	}
	return all
}

// shown returns the arguments without those that name a place on this machine.
func (p plan) shown() []string {
	return slices.DeleteFunc(slices.Clone(p.args), func(arg string) bool { return strings.Contains(arg, string(filepath.Separator)) })
}

// said returns what a command prints, or nothing if it fails.
func said(ctx context.Context, name string, args ...string) string {
	out, err := exec.CommandContext(ctx, name, args...).Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}

// processor returns the name of the machine's processor.
func processor() string {
	info, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return "an unknown processor"
	}
	for line := range strings.Lines(string(info)) {
		if key, name, _ := strings.Cut(line, ":"); strings.TrimSpace(key) == "model name" {
			return strings.TrimSpace(name)
		}
	}
	return "an unknown processor"
}
