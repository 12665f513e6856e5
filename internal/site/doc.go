// Package site tests the site that VitePress builds of docs, in a browser. make site-check builds
// the site and runs the tests.
package site
