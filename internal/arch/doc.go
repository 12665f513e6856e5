// Package arch checks that the imports of this module run one way.
//
// The table in layers.go is the architecture: it places every package, including future ones, and
// says which of our packages it may import. The table in reservations.go says which packages may
// import which modules from outside. The test of this package compares the tree with both tables:
// it fails on an import in the wrong direction, and on a package without a place.
//
// To add a package, add a line to the table. If its imports do not fit, the package is more often
// in the wrong place than the table is wrong.
//
// Test files may import any of our packages, because they are outside the layers. The reservations
// apply to them unless a line says otherwise. Nested modules, such as tools, are not checked: the
// go command keeps them apart.
package arch
