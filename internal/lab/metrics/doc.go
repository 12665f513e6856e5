// Package metrics tests the metrics of all packages together: which there are, and that their names
// follow the rules.
package metrics
