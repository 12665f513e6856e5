package cluster

import (
	"strings"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/internal/shardtree"
)

// explainUnsharded says why refs to sharded entities lead nowhere, until package sharding is used.
func explainUnsharded(s *actor.System, why func(typ string) error) {
	extension.AddTree(s, shardtree.Name, func(path string) (actor.AnyRef, error) {
		typ, _, _ := strings.Cut(path, "/")
		return nil, why(typ)
	})
}
