// Package report turns what a node says into answers: summaries, tables, what is wrong, and whether
// a node may be restarted. It is pure. The JSON names of its types are what the command prints with
// -json and what its tools return; docs/cli.md describes them.
package report
