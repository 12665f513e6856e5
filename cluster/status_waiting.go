package cluster

import (
	"strings"

	"github.com/understudy-go/understudy/cluster/membership"
)

// waiting returns sentences that say why the node does not make progress, the gravest first.
func (n *Node) waiting(v View, ended bool) []string {
	switch {
	case ended && n.failure != nil:
		return []string{"This node has ended: " + n.failure.Error() + "."}
	case ended:
		return append(whyLost(v), "This node has ended.")
	case v.Self.Status == 0:
		why, advice := n.whyNotUp()
		sentences := append(whyLost(v), "This node "+why+".")
		for _, each := range advice {
			sentences = append(sentences, strings.ToUpper(each[:1])+each[1:]+".")
		}
		return sentences
	case v.Self.Status >= Down && membership.Lost(v) != "":
		return append(whyLost(v), "This node stops what it runs.")
	case v.Self.Status >= Down:
		return []string{"This node leaves: it stops what it runs."}
	}
	return membership.Reasons(v)
}

func whyLost(v View) []string {
	if why := membership.Lost(v); why != "" {
		return []string{"This node was taken down: " + why + "."}
	}
	return nil
}
