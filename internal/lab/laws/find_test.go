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
	require.NoError(t, os.WriteFile(filepath.Join(dir, "b_test.go"), []byte("//go:build !race\n\npackage a\n\nfunc ExampleSlow() {}\nfunc help2() {}\n"), 0o600))
	laws, err := find(dir)
	require.NoError(t, err)
	got := map[string][3]bool{}
	for _, l := range laws {
		got[l.test] = [3]bool{l.verify, l.long, l.unraced}
	}
	require.Equal(t, map[string][3]bool{
		"TestVerify": {true, false, false}, "TestLong": {false, true, false}, "TestBoth": {true, true, false}, "TestLater": {false, true, false},
		"TestUnraced": {false, false, true}, "ExampleSlow": {false, false, true},
	}, got)
	require.Equal(t, []string{"effort.Count[uint64](1, 2, 3)"}, laws[2].counts)
}

func TestAPackageOfAnotherModuleIsNoneOfTheRoot(t *testing.T) {
	t.Chdir("../../..")
	require.Equal(t, "./cluster", rootPackage("cluster"))
	require.Empty(t, rootPackage("internal/lab/jetstreamtest"))
}
