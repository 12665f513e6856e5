// Package arch checks that the imports of this module run one way.
//
// The table in layers.go is the architecture: it places every package, including future ones, and
// says which of ours it may import. The table in reservations.go says who may import what from
// outside. The test of this package compares the tree with both: an import in the wrong direction
// fails, and so does a package without a place.
//
// To add a package, add a line to the table. If its imports do not fit, the package is more often
// in the wrong place than the table is wrong.
//
// Test files may import any package of ours, because they are outside the layers. The reservations
// apply to them unless a line says otherwise. Modules of their own, such as tools, are not
// checked: the go command keeps them apart.
package arch
