package report

import (
	"time"

	"github.com/understudy-go/understudy/cmd/understudy/internal/status"
)

// A GivenUpMessage is a message to a singleton that a node has put aside.
type GivenUpMessage struct {
	Node      string    `json:"node" jsonschema:"the node that keeps it, where it was sent"`
	Number    uint64    `json:"number" jsonschema:"of the message on that node"`
	Singleton string    `json:"singleton"`
	Type      string    `json:"type" jsonschema:"the Go type of the message"`
	Reason    string    `json:"reason" jsonschema:"the last failure"`
	Time      time.Time `json:"time" jsonschema:"when it was given up"`
}

// GivenUp are the messages that nodes have put aside.
type GivenUp struct {
	Messages []GivenUpMessage `json:"messages" jsonschema:"of each node, the oldest first"`
	Silent   []string         `json:"silent" jsonschema:"nodes that have not answered"`
}

// GivenUpOf returns the messages of all nodes to the singleton with a name, or all.
func GivenUpOf(nodes []status.GivenUp, silent []string, singleton string) GivenUp {
	all := GivenUp{Messages: []GivenUpMessage{}, Silent: list(silent)}
	for _, n := range nodes {
		for _, m := range n.Messages {
			if singleton == "" || m.Singleton == singleton {
				all.Messages = append(all.Messages, GivenUpMessage{n.Node, m.Number, m.Singleton, m.Type, m.Reason, m.Time})
			}
		}
	}
	return all
}
