package busy

import (
	"context"

	"github.com/understudy-go/understudy/cluster"
	"github.com/understudy-go/understudy/cluster/cron"
)

// schedule starts a schedule with an entry that is due once a year.
func (p *Program) schedule(n *cluster.Node) error {
	_, err := cron.Start(n, cron.Config{
		Jobs:    map[string]cron.Job{"audit": cron.Func(func(context.Context, cron.Run) error { return nil })},
		Entries: []cron.Entry{{Name: "audit", Spec: "0 3 1 1 *"}},
	})
	return err
}
