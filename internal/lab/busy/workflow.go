package busy

import (
	"github.com/understudy-go/understudy/cluster"
	"github.com/understudy-go/understudy/persistence/workflow"
)

// workflows starts a type of workflows.
func (p *Program) workflows(n *cluster.Node) error {
	_, err := workflow.Start(n, "refund", func(*workflow.Run, int) (int, error) { return 0, nil })
	return err
}
