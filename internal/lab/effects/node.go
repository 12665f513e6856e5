package effects

import (
	"bufio"
	"context"
	"fmt"
	"iter"
	"net/http"
	"os"
	"strings"
	"time"

	"go.uber.org/zap"

	"github.com/understudy-go/understudy/cluster"
	"github.com/understudy-go/understudy/persistence/workflow"
	"github.com/understudy-go/understudy/persistence/workflow/outside"
)

// clusterName is the name of the cluster.
const clusterName = "effects"

// leaving is how long a node may take to leave.
const leaving = time.Minute

// serveNode is one of the three processes: a member of the cluster that hosts runs. It does what
// the lines of its input say, and leaves when that ends.
func serveNode(ctx context.Context, s settings) error {
	journal, err := s.open(ctx, s.journal)
	if err != nil {
		return err
	}
	defer journal.Close()
	network := newNetwork()
	node, err := cluster.Start(ctx, cluster.Config{
		Name: clusterName, NodeID: s.node, Bind: s.bind, Seeds: s.seeds, Journal: journal, Network: network, Logger: zap.NewNop(),
	})
	if err != nil {
		return err
	}
	worker := &worker{node: s.node, sink: s.sink, client: &http.Client{
		Timeout: 5 * time.Second, Transport: outside.Transport{Base: &http.Transport{MaxIdleConnsPerHost: 5000}},
	}}
	if _, err := workflow.Start(node, typeName, worker.work); err != nil {
		return err
	}
	fmt.Println(opened)
	views, end := context.WithCancel(ctx)
	defer end()
	go tellMembers(node.Views(views))
	obey(network)
	ctx, cancel := context.WithTimeout(ctx, leaving)
	defer cancel()
	return node.Leave(ctx)
}

// tellMembers writes how many members each view has, or -1 if one of them is not up or cannot be
// reached.
func tellMembers(views iter.Seq[cluster.View]) {
	for v := range views {
		n := len(v.Members)
		for _, m := range v.Members {
			if m.Status != cluster.Up || !v.Reachable(m) {
				n = -1
			}
		}
		fmt.Println(n)
	}
}

// What the processes say and are told.
const (
	opened = "open"
	cutOff = "cut"  // followed by addresses
	mend   = "mend" // all cuts
)

// obey does what the lines of the input say, until that ends.
func obey(n *network) {
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		if words := strings.Fields(lines.Text()); words[0] == cutOff {
			n.cut(words[1:])
		} else {
			n.mend()
		}
	}
}
