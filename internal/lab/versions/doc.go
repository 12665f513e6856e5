// Package versions tests two versions of one application in one cluster: two processes register
// different Go types under the same names, exchange messages, and host the same event-sourced
// singleton in turn. docs/upgrades.md promises what it tests.
package versions
