//go:build !race || go1.27

package memnet

func serialize() {}

func deserialize() {}
