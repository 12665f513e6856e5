//go:build !race

package membership

const underRace = false
