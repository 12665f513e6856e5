package docs

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/needs"
)

// A released is a copy of a repository with a tag v0.1.0, in which internal/tools/api-check runs.
type released struct {
	t     *testing.T
	dir   string
	cache string
}

func newReleased(t *testing.T) released {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		needs.Missing(t, "no git: apt-get install git")
	}
	r := released{t: t, dir: t.TempDir(), cache: t.TempDir()}
	for _, name := range []string{"api-check", "go.mod", "go.sum"} {
		r.write("internal/tools/"+name, read(t, "internal/tools/"+name))
	}
	require.NoError(t, os.Chmod(filepath.Join(r.dir, "internal/tools/api-check"), 0o700))
	r.write("go.mod", "module github.com/understudy-go/understudy\n\ngo 1.26.0\n")
	r.write("CHANGELOG.md", "## Unreleased\n\n## v0.1.0 (2026-12-01)\n")
	r.write("docs/stability.md", "| [`cluster`](../cluster) | stable | programs |\n| [`cluster/cron`](../cluster/cron) | experimental | jobs |\n")
	r.write("cluster/view.go", "package cluster\n\ntype Member struct{ Addr string }\n")
	r.write("cluster/cron/cron.go", "package cron\n\ntype Job struct{ Step int }\n")
	r.git("init", "--quiet")
	r.git("add", ".")
	r.git("commit", "--quiet", "--message", "Released")
	return r
}

func (r released) write(name, text string) {
	r.t.Helper()
	file := filepath.Join(r.dir, name)
	require.NoError(r.t, os.MkdirAll(filepath.Dir(file), 0o700))
	require.NoError(r.t, os.WriteFile(file, []byte(text), 0o600))
}

func (r released) git(args ...string) {
	r.t.Helper()
	cmd := exec.CommandContext(r.t.Context(), "git", append([]string{"-c", "user.name=Test", "-c", "user.email=test@example.com"}, args...)...)
	cmd.Dir = r.dir
	out, err := cmd.CombinedOutput()
	require.NoError(r.t, err, string(out))
}

func (r released) check(env ...string) (said string, err error) {
	cmd := exec.CommandContext(r.t.Context(), filepath.Join(r.dir, "internal/tools/api-check"))
	cmd.Dir = r.dir
	built, err := exec.CommandContext(r.t.Context(), "go", "env", "GOCACHE").Output()
	require.NoError(r.t, err)
	cmd.Env = append(append(os.Environ(), "XDG_CACHE_HOME="+r.cache, "GOCACHE="+strings.TrimSpace(string(built))), env...)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func TestTheAPICheckFailsWithoutTheTagOfARelease(t *testing.T) {
	r := newReleased(t)
	said, err := r.check()
	require.Error(t, err)
	require.Contains(t, said, "comes after no tag")
	said, err = r.check("FIRST_RELEASE=1")
	require.NoError(t, err)
	require.Contains(t, said, "no release to compare with")
}

func TestTheAPICheckFailsForStablePackagesOnly(t *testing.T) {
	r := newReleased(t)
	r.git("tag", "v0.1.0")
	r.write("cluster/cron/cron.go", "package cron\n\ntype Job struct{}\n")
	said, err := r.check()
	require.NoError(t, err, said)
	require.Contains(t, said, "cluster/cron (experimental)")
	kept, err := filepath.Glob(r.cache + "/understudy/*")
	require.NoError(t, err)
	require.Len(t, kept, 1, "the tree of the release, and no part of one")

	r.write("cluster/view.go", "package cluster\n\ntype Member struct{}\n")
	said, err = r.check()
	require.Error(t, err)
	require.Contains(t, said, "cluster (stable)")
	require.Contains(t, said, "Member.Addr: removed")

	require.NotContains(t, unnamed(said), "Job")

	r.write("CHANGELOG.md", "## Unreleased\n\n### Breaking\n\n- `Member.Addr` is gone.\n\n## v0.1.0 (2026-12-01)\n")
	said, err = r.check()
	require.NoError(t, err, said)
}

// unnamed returns what the check says of changes that the changelog does not name.
func unnamed(said string) string {
	_, changes, _ := strings.Cut(said, "under \"### Breaking\" in CHANGELOG.md:\n")
	return changes
}

func TestTheAPICheckWantsEachChangeToBeNamedUnderBreaking(t *testing.T) {
	r := newReleased(t)
	r.write("docs/stability.md", "| [`actor`](../actor) | stable | programs |\n| [`actor/topic`](../actor/topic) | stable | programs |\n")
	r.write("actor/topic/topic.go", "package topic\n")
	r.write("actor/ref.go", "package actor\n\ntype Ref[M any] struct{ Name, Path string }\n\nfunc (*Ref[M]) Tell(M) {}\n\nfunc (*Ref[M]) Stop() {}\n\n"+
		"type Sender interface{ Send() }\n\nfunc Spawn() {}\n\nconst Limit = 1\n")
	r.git("add", ".")
	r.git("commit", "--quiet", "--message", "Released")
	r.git("tag", "v0.1.0")
	require.NoError(t, os.Remove(filepath.Join(r.dir, "actor/topic/topic.go")))
	r.write("actor/ref.go", "package actor\n\ntype Ref[M any] struct{ Path string }\n\nfunc (*Ref[M]) Tell(M, int) {}\n\n"+
		"type Sender interface {\n\tSend()\n\tsealed()\n}\n\nfunc Spawn(int) {}\n\nconst Limit = 2\n")

	all := []string{
		"- actor: (*Ref[M]).Stop: removed\n",
		"- actor: (*Ref[M]).Tell: changed",
		"- actor: Limit: value changed from 1 to 2\n",
		"- actor: Ref.Name: removed\n",
		"- actor: Sender.sealed: added unexported method\n",
		"- actor: Spawn: changed from func() to func(int)\n",
		"- actor/topic: actor/topic: the package was removed\n",
	}
	for name, c := range map[string]struct {
		changelog string
		lacks     []string
	}{
		"below other headings": {"### Changed\n\n- `Stop`, `Tell`, `Limit`, `Ref.Name`\n\n### Breaking\n\n### Added\n\n- `Sender`, `Spawn`, `actor/topic`\n", all},
		"in prose, or as a part of a word": {
			"### Breaking\n\n- Stop and Tell; `Limits` and `Respawn`; `Name`, `actor/topic` and `Sender`\n",
			slices.Concat(all[:3], all[5:6]),
		},
		"in several ways, in two sections": {"### Breaking\n\n- `Ref.{Stop,Tell}`, `Limit`.\n\n## v0.2.0\n\n### Breaking\n\n" +
			"- `Ref.Name`\n\n```go\n## \nactor.Spawn(1)\n```\n\n- `Sender`, `actor/topic`\n", nil},
	} {
		t.Run(name, func(t *testing.T) {
			r.t = t
			r.write("CHANGELOG.md", "## Unreleased\n\n"+c.changelog+"\n## v0.1.0 (2026-12-01)\n\n### Breaking\n\n- `Stop`, `Tell`, `Limit`, `Spawn`\n")
			said, err := r.check()
			for _, change := range all {
				require.Equal(t, slices.Contains(c.lacks, change), strings.Contains(unnamed(said), change), "%s in\n%s", change, said)
			}
			require.Equal(t, c.lacks != nil, err != nil, "%v: %s", err, said)
		})
	}
}

func TestTheAPICheckKeepsNoHalfOfATree(t *testing.T) {
	r := newReleased(t)
	r.git("tag", "v0.1.0")
	bin := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(bin, "tar"), []byte("#!/bin/sh\nexit 1\n"), 0o700)) //nolint:gosec // a program needs x
	_, err := r.check("PATH=" + bin + ":" + os.Getenv("PATH"))
	require.Error(t, err)
	kept, err := filepath.Glob(r.cache + "/understudy/*")
	require.NoError(t, err)
	require.Empty(t, kept)
}
