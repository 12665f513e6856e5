//go:build !linux

package main

import "errors"

// A network does not exist on this system.
type network struct{}

const hub = ""

func newNetwork() (*network, error) { return nil, errors.New("network namespaces need Linux") }

func (n *network) space(string) string { return "" }
func (n *network) host(int) string     { return "" }
func (n *network) cut(int) error       { return nil }
func (n *network) plug(int) error      { return nil }
func (n *network) close()              {}
