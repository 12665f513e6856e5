// Package understudytest tests the command understudy with real nodes of a cluster. It is a module
// of its own, so that the command depends on nothing of ours: go install refuses a module that has
// replace directives.
package understudytest
