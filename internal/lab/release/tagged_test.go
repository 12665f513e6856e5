package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestOnlyATaggedCommitIsReleased(t *testing.T) {
	repository := tree(t, "module "+rootPath+"/store\n\nrequire "+rootPath+" v0.2.0\n")
	git := func(args ...string) {
		_, err := output(t.Context(), repository, "git", append([]string{"-c", "user.name=Test", "-c", "user.email=test@example.com"}, args...)...)
		require.NoError(t, err)
	}
	check := func() error { return RequireTags(t.Context(), repository, mustLoad(t, repository)) }
	git("init", "--quiet")
	git("add", ".")
	git("commit", "--quiet", "--message", "First")
	require.ErrorContains(t, check(), "lacks the tags v0.2.0, internal/pg/v0.2.0, store/v0.2.0: tag it")
	git("tag", "v0.1.0")
	git("tag", "v0.2.0")
	git("tag", "internal/pg/v0.2.0")
	require.ErrorContains(t, check(), "lacks the tags store/v0.2.0: tag it")
	git("tag", "-a", "-m", "The store", "store/v0.2.0")
	require.NoError(t, check())
	git("commit", "--quiet", "--allow-empty", "--message", "Second")
	require.ErrorContains(t, check(), "lacks the tags v0.2.0", "the tags are of the commit before")
}

func TestOnlyWhatATagHasIsSigned(t *testing.T) {
	key := filepath.Join(t.TempDir(), "release")
	require.ErrorIs(t, options{dist: "out", key: key}.checkDist(), os.ErrNotExist)
	require.NoError(t, os.WriteFile(key, nil, 0o600))
	require.NoError(t, options{dist: "out", key: key}.checkDist())
	require.NoError(t, options{dist: "out", dirty: true}.checkDist())
	require.ErrorContains(t, options{dist: "out", dirty: true, key: key}.checkDist(), "must not be signed")
	require.ErrorContains(t, options{key: key}.checkDist(), "name a folder with -dist")
	require.ErrorContains(t, run(t.Context(), options{dist: filepath.Join(t.TempDir(), "out"), dirty: true, key: key}), "must not be signed")
}
