//go:build !quick

package clustertest_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/actor/receptionist"
	"github.com/understudy-go/understudy/actor/router"
	"github.com/understudy-go/understudy/actor/topic"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/singleton"
	"github.com/understudy-go/understudy/testkit"
	"github.com/understudy-go/understudy/testkit/clustertest"
)

// A memo may be one that cannot be encoded.
type memo struct {
	Text    string
	Temper  temper
	Author  *author
	ReplyTo actor.ActorRef[string]
}

// An author may have written with itself.
type author struct {
	Name string
	With *author
}

// temper is a type with encoding methods that fail for some values.
type temper string

func (t temper) MarshalCBOR() ([]byte, error) {
	if t == "encoding panics" {
		panic("MarshalCBOR")
	}
	return append([]byte{0x60 | byte(len(t))}, t...), nil
}

func (t *temper) UnmarshalCBOR(data []byte) error {
	if *t = temper(data[1:]); *t == "decoding panics" {
		panic("UnmarshalCBOR")
	}
	return nil
}

func init() { actor.RegisterType[memo]("clustertest_test.memo") }

// unencodable are memos that cannot be sent, by reason.
func unencodable() map[string]memo {
	loop := &author{Name: "Penrose"}
	loop.With = loop
	return map[string]memo{
		"not UTF-8":            {Text: "\xff"},
		"has itself inside":    {Author: loop},
		"panic: MarshalCBOR":   {Temper: "encoding panics"},
		"panic: UnmarshalCBOR": {Temper: "decoding panics"},
	}
}

var (
	readersKey   = receptionist.NewKey[memo]("readers")
	readersTopic = topic.New[memo]("memos")
)

// reader sends the memos that it reads to notes, and answers.
func reader(notes actor.ActorRef[string]) actor.Behavior[memo] {
	return behaviors.Receive(func(_ *actor.Context[memo], m memo) actor.Behavior[memo] {
		notes.Tell(m.Text)
		if m.ReplyTo != (actor.ActorRef[string]{}) {
			m.ReplyTo.Tell("read " + m.Text)
		}
		return behaviors.Same
	})
}

// A message that cannot be encoded is a dead letter with its reason on the node of the sender,
// however it was sent. Messages sent afterwards in the same way arrive.
func TestWhatCannotBeEncodedIsReportedInEveryWayAndTheWayWorksAfterwards(t *testing.T) {
	for name, way := range map[string]func(t *testing.T, c *clustertest.Cluster, notes actor.ActorRef[string]) (from *actor.System, send func(memo)){
		"tell": func(_ *testing.T, c *clustertest.Cluster, notes actor.ActorRef[string]) (*actor.System, func(memo)) {
			ref := actor.Spawn(c.Node("n2"), reader(notes), "reader")
			far := actor.Resolve[memo](c.Node("n1").System, ref.String())
			return c.Node("n1").System, far.Tell
		},
		"ask": func(t *testing.T, c *clustertest.Cluster, notes actor.ActorRef[string]) (*actor.System, func(memo)) {
			ref := actor.Spawn(c.Node("n2"), reader(notes), "reader")
			far := actor.Resolve[memo](c.Node("n1").System, ref.String())
			return c.Node("n1").System, func(m memo) { request(t, far, m) }
		},
		"a group router": func(_ *testing.T, c *clustertest.Cluster, notes actor.ActorRef[string]) (*actor.System, func(memo)) {
			actor.Spawn(c.Node("n2"), behaviors.Discoverable(readersKey, reader(notes)), "reader")
			time.Sleep(time.Second)
			return c.Node("n1").System, actor.Spawn(c.Node("n1"), router.Group(readersKey), "group").Tell
		},
		"a topic": func(_ *testing.T, c *clustertest.Cluster, notes actor.ActorRef[string]) (*actor.System, func(memo)) {
			readersTopic.Subscribe(c.Node("n2").System, actor.Spawn(c.Node("n2"), reader(notes), "reader"))
			time.Sleep(time.Second)
			return c.Node("n1").System, func(m memo) { readersTopic.Publish(c.Node("n1").System, m) }
		},
		"a singleton": func(_ *testing.T, c *clustertest.Cluster, notes actor.ActorRef[string]) (*actor.System, func(memo)) {
			refs := readerSingletons(c, notes)
			return c.Node("n2").System, refs["n2"].Tell
		},
		"a singleton at least once": func(_ *testing.T, c *clustertest.Cluster, notes actor.ActorRef[string]) (*actor.System, func(memo)) {
			refs := readerSingletons(c, notes, singleton.AtLeastOnce(10))
			return c.Node("n2").System, refs["n2"].Tell
		},
		"an ask of a singleton": func(t *testing.T, c *clustertest.Cluster, notes actor.ActorRef[string]) (*actor.System, func(memo)) {
			refs := readerSingletons(c, notes)
			return c.Node("n2").System, func(m memo) { request(t, refs["n2"], m) }
		},
		"a client": func(_ *testing.T, c *clustertest.Cluster, notes actor.ActorRef[string]) (*actor.System, func(memo)) {
			actor.Spawn(c.Node("n2"), reader(notes), "reader")
			client := c.Dial("client", unencoded)
			return client.System, at[memo](client, c.Node("n2"), "/user/reader").Tell
		},
		"a client's singleton": func(_ *testing.T, c *clustertest.Cluster, notes actor.ActorRef[string]) (*actor.System, func(memo)) {
			readerSingletons(c, notes)
			client := c.Dial("client", unencoded)
			return client.System, singleton.Ref[memo](client.System, "reader").Tell
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := clustertest.Start(t, 2, clustertest.WithoutEncoding()) // what cannot be encoded is the story
				notes := testkit.NewProbe[string](t, c.Node("n1").System)
				from, send := way(t, c, notes.Ref())
				dead := testkit.NewProbe[actor.DeadLetter](t, from)
				actor.Subscribe(from, dead.Ref())
				send(memo{Text: "first"})
				notes.Expect("first")
				for says, m := range unencodable() {
					send(m)
					letter := dead.Receive()
					require.ErrorIs(t, letter.Reason, actor.ErrNotSerializable)
					require.ErrorContains(t, letter.Reason, says)
					require.ErrorContains(t, letter.Reason, "clustertest_test.memo")
					send(memo{Text: "after " + says})
					notes.Expect("after " + says)
				}
			})
		})
	}
}

func request(t *testing.T, to actor.ActorRef[memo], m memo) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	_, err := actor.Ask(ctx, to, func(replyTo actor.ActorRef[string]) memo {
		m.ReplyTo = replyTo
		return m
	})
	if m.Text == "\xff" || m.Author != nil || m.Temper != "" {
		require.Error(t, err)
	} else {
		require.NoError(t, err)
	}
}

// readerSingletons returns a ref on each node to the one reader, which is on n1.
func readerSingletons(c *clustertest.Cluster, notes actor.ActorRef[string], opts ...singleton.Option) map[string]actor.ActorRef[memo] {
	refs := map[string]actor.ActorRef[memo]{}
	for _, name := range []string{"n1", "n2"} {
		refs[name] = actor.Spawn(c.Node(name), behaviors.Singleton(func() actor.Behavior[memo] { return reader(notes) }, opts...), "reader")
	}
	time.Sleep(time.Second)
	return refs
}
