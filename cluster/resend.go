package cluster

import (
	"slices"
	"strings"

	"github.com/understudy-go/understudy/internal/actorhook"
	"github.com/understudy-go/understudy/internal/guard"
	"github.com/understudy-go/understudy/internal/shardtree"
	"github.com/understudy-go/understudy/internal/statuspage"
	"github.com/understudy-go/understudy/singleton"
)

func letterNumbers(all []uint64) []string {
	named := []string{}
	for _, number := range all {
		named = append(named, statuspage.LetterNumber(number))
	}
	return named
}

func resendLetter(n *Node, number uint64) (statuspage.Resent, error) {
	r, err := actorhook.Resend(n.System, number, func(recipient string) string { return addressee(n, recipient) })
	if err != nil {
		return statuspage.Resent{}, err
	}
	shown := statuspage.Resent{Number: statuspage.LetterNumber(number), To: r.To}
	switch {
	case r.Dead != nil:
		shown.Outcome, shown.Reason = statuspage.DeadAgain, guard.Text(r.Dead)
		if r.Number > 0 {
			shown.Again = statuspage.LetterNumber(r.Number)
		}
	case r.Failed != nil:
		shown.Outcome, shown.Reason = statuspage.HandlerFailed, guard.Text(r.Failed)
	case r.Here:
		shown.Outcome = statuspage.Delivered
	default:
		shown.Outcome = statuspage.Sent
	}
	return shown, nil
}

// addressee returns the path to which a message is sent again. A message to a singleton goes to the
// manager of this node, if there is one, because the instance may have moved, and other managers
// may have ended. For the same reason, entities and placed actors get it wherever they are.
func addressee(n *Node, recipient string) string {
	scheme := "understudy://" + n.Name()
	own := scheme + "@" + n.Address() + userTree
	if name, is := strings.CutPrefix(recipient, actorhook.ToSingleton); is {
		return own + name
	}
	full, _, _ := strings.Cut(recipient, "#")
	path := pathIn(full)
	if name, is := strings.CutPrefix(path, userTree); is {
		name = strings.TrimSuffix(name, "/instance")
		if slices.ContainsFunc(singleton.Statuses(n.System), func(s singleton.Status) bool { return s.Name == name }) {
			return own + name
		}
	}
	if everywhere := movingPath(path); everywhere != "" {
		return scheme + everywhere
	}
	return full
}

const (
	userTree = "/user/"

	shardsTree = "/system/shards/"                   // then the type, a dot, the shard, and the entity
	placedTree = "/system/" + shardtree.Placed + "/" // then the actor
)

// pathIn returns the path within its system.
func pathIn(full string) string {
	_, rest, _ := strings.Cut(full, "://")
	return rest[max(strings.IndexByte(rest, '/'), 0):]
}

// movingPath returns the path of an entity or placed actor that it has on every node, or "" for
// another actor.
func movingPath(path string) string {
	if name, placed := strings.CutPrefix(path, placedTree); placed && !strings.Contains(name, "/") {
		return "/" + shardtree.Placed + "/" + name
	}
	in, sharded := strings.CutPrefix(path, shardsTree)
	shard, entity, _ := strings.Cut(in, "/")
	dot := strings.LastIndexByte(shard, '.')
	if !sharded || dot < 0 || entity == "" || strings.Contains(entity, "/") {
		return ""
	}
	return "/" + shardtree.Name + "/" + shard[:dot] + "/" + entity
}
