package actorhook

import (
	"bufio"
	"io"
	"reflect"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
)

type pair[A, B any] struct {
	_ A
	_ B
}

func TestNamesOfTypesHaveNoPaths(t *testing.T) {
	for want, of := range map[string]reflect.Type{
		"int":               reflect.TypeFor[int](),
		"actorhook.Span":    reflect.TypeFor[Span](),
		"*actorhook.Span":   reflect.TypeFor[*Span](),
		"[]*fstest.MapFile": reflect.TypeFor[[]*fstest.MapFile](),
		"actorhook.pair[map[string]io.Reader,actorhook.pair[bufio.Reader,int]]": reflect.TypeFor[pair[map[string]io.Reader, pair[bufio.Reader, int]]](),
		"actorhook.pair[*fstest.MapFile,[]int]":                                 reflect.TypeFor[pair[*fstest.MapFile, []int]](),
	} {
		require.Equal(t, want, ShortName(of))
	}
}
