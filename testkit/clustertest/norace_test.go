//go:build !race

package clustertest_test

const underRace = false
