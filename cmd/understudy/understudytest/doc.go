// Package understudytest tests the command understudy with real nodes of a cluster. It is a module of
// its own, so that the command depends on nothing of ours: go install refuses modules that lead to
// others by replace directives.
package understudytest
