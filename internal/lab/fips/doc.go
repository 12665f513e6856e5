// Package fips has the test that a sealed cluster with an encrypted journal needs no cryptography
// that FIPS 140-3 does not approve.
package fips
