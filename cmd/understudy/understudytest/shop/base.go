package main

import (
	"errors"
	"maps"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/persistence"
)

// The types of the build that runs today.
type (
	Added struct {
		Item   string
		Count  int32 // 0 for one
		Price  int64 // in cents
		Weight float64
		Size   int // an index into sizes
		Color  string
		Note   *string
		Tags   []string
		Coupon string
	}
	Paid  struct{ Amount int64 }
	Moved struct {
		_    struct{} `cbor:",toarray"`
		X, Y int
	}
	Cart struct {
		Items    map[string]int64
		Sizes    map[string]int
		Total    int64
		Weight   float64
		Paid     int64
		X, Y     int
		Discount int
	}
	Settings struct {
		Limit   int64
		Country string
	}
	Ping struct{ N int32 } // messages are never stored
	Ask  struct{ ReplyTo actor.ActorRef[Paid] }
)

var sizes = []string{"S", "M", "L"}

func shopping() map[string][]any {
	tea := Added{Item: "tea", Price: 320, Weight: 0.25, Size: 1, Color: "green", Tags: []string{"hot"}}
	text := "a gift"
	cup := Added{Item: "cup", Count: 2, Price: 950, Weight: 0.4, Size: 2, Color: "red", Note: &text, Coupon: "SPRING"}
	return map[string][]any{
		"cart|1":   {tea, cup, Moved{X: 1, Y: 2}, tea, Paid{1590}, tea, cup},
		"cart|2":   {cup, cup, Moved{X: 3, Y: 0}},
		"cart|3":   {tea},
		"settings": {Settings{Limit: 5, Country: "DE"}, Settings{Limit: 70_000, Country: "FR"}},
	}
}

func (c Cart) apply(event any) Cart {
	switch e := event.(type) {
	case Added:
		return c.added(e.Item, int64(max(e.Count, 1)), e.Price, e.Weight, sizes[e.Size], e.Coupon)
	case Paid:
		c.Paid += e.Amount
	case Moved:
		c.X, c.Y = e.X, e.Y
	}
	return c
}

func (c Cart) added(item string, count, price int64, weight float64, size, coupon string) Cart {
	c.Items, c.Sizes = maps.Clone(c.Items), maps.Clone(c.Sizes)
	if c.Items == nil {
		c.Items, c.Sizes = map[string]int64{}, map[string]int{}
	}
	c.Items[item] += count
	c.Sizes[size]++
	c.Total += price * count
	c.Weight += weight
	if coupon != "" {
		c.Discount = 10
	}
	return c
}

// carts returns the carts of a build by their state and their event handler.
func carts[S any](apply func(S, any) S, opts ...persistence.Options[command, any, S]) func(string, persistence.Journal) actor.Behavior[command] {
	return func(id string, j persistence.Journal) actor.Behavior[command] {
		o := persistence.Options[command, any, S]{SnapshotEvery: 3, KeepSnapshots: 2}
		if len(opts) > 0 {
			o = opts[0]
		}
		if o.Tags == nil {
			o.Tags = func(_ S, event any) []string {
				switch event.(type) {
				case Paid, cased:
					return []string{"paid"}
				}
				return nil
			}
		}
		var initial S
		return behaviors.EventSourced(id, j, initial, apply, func(_ *actor.Context[command], _ S, c command) persistence.Effect[any] {
			return persistence.ThenReply(persistence.Persist(c.event), c.done, true)
		}, o)
	}
}

func settings[S any]() func(string, persistence.Journal) actor.Behavior[command] {
	return func(id string, j persistence.Journal) actor.Behavior[command] {
		var initial S
		return behaviors.DurableState(id, j, initial, func(_ *actor.Context[command], _ persistence.State[S], c command) persistence.StateEffect[S] {
			return persistence.ThenReply(persistence.PersistState(c.event.(S)), c.done, true)
		})
	}
}

// types register the types of a build.
type types map[string]func()

func base() types {
	return types{
		"added": as[Added]("shop.added"), "paid": as[Paid]("shop.paid"), "moved": as[Moved]("shop.moved"),
		"cart": as[Cart]("shop.cart"), "settings": as[Settings]("shop.settings"), "ping": as[Ping]("shop.ping"), "ask": as[Ask]("shop.ask"),
		"sold out": sentinel("shop.sold-out"),
	}
}

func as[T any](name string) func() { return func() { actor.RegisterType[T](name) } }

func sentinel(name string) func() {
	return func() { actor.RegisterError(name, errors.New(name)) }
}
