package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestALawDoesMoreWhereItsCountsDiffer(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "a_test.go"), []byte(`package a

func TestVerify(t *testing.T) { effort.Verify(t) }
func TestLong(t *testing.T)   { effort.Long(t) }
func TestBoth(t *testing.T)   { for range effort.Count[uint64](1, 2, 3) {} }
func TestLater(t *testing.T)  { f(effort.Of(1, 1, 2)) }
func TestUnraced(t *testing.T) { effort.Unraced(t) }
func TestLight(t *testing.T)  { f() }
func help()                   { effort.Of(1, 2, 3) }
`), 0o600))
	laws, err := find(dir)
	require.NoError(t, err)
	got := map[string][2]bool{}
	for _, l := range laws {
		got[l.test] = [2]bool{l.verify, l.long}
	}
	require.Equal(t, map[string][2]bool{
		"TestVerify": {true, false}, "TestLong": {false, true}, "TestBoth": {true, true}, "TestLater": {false, true}, "TestUnraced": {},
	}, got)
	require.Equal(t, []string{"effort.Count[uint64](1, 2, 3)"}, laws[2].counts)
}

func TestAPackageOfAnotherModuleIsNoneOfTheRoot(t *testing.T) {
	t.Chdir("../../..")
	require.Equal(t, "./cluster", rootPackage("cluster"))
	require.Empty(t, rootPackage("internal/lab/jetstreamtest"))
}
