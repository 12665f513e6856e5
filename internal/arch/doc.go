// Package arch keeps the imports of this module running one way.
//
// The table in layers.go is the architecture: it places every package, those to come
// included, and says which of ours it may import. The table in reservations.go says who
// may import what from outside. The package's test holds the tree against both, so an
// import that runs the wrong way fails the build, as does a package without a place.
//
// To add a package, give it a line in the table. When its imports do not fit, the
// package is in the wrong place more often than the table is wrong.
//
// Test files may import any package of ours, as they stand outside the layers; the
// reservations hold for them too, unless a line says otherwise. Modules of their own,
// such as tools, are not looked at: the go command keeps them apart.
package arch
