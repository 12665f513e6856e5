package cluster

import (
	"reflect"
	"time"

	"github.com/understudy-go/understudy/internal/guard"
	"github.com/understudy-go/understudy/internal/statuspage"
	"github.com/understudy-go/understudy/singleton"
)

func (n *statusSource) GivenUp() statuspage.GivenUp {
	all := statuspage.GivenUp{Node: n.cfg.NodeID, Time: time.Now(), Messages: []statuspage.GivenUpMessage{}}
	for _, m := range singleton.ListGivenUp(n.System) {
		all.Messages = append(all.Messages, statuspage.GivenUpMessage{
			Number: m.Number, Singleton: m.Singleton, Type: typeText(reflect.TypeOf(m.Message)), Reason: guard.Text(m.Reason), Time: m.Time,
		})
	}
	return all
}
