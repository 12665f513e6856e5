package main

import (
	"errors"
	"maps"
	"time"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/actor/codec/json"
	"github.com/understudy-go/understudy/persistence"
	"github.com/understudy-go/understudy/persistence/rehearsal"
	"github.com/understudy-go/understudy/singleton"
)

// of returns a build with other types than the base, and another event handler of the carts.
func of(change types, apply func(Cart, any) Cart) build {
	all := base()
	maps.Copy(all, change)
	return build{
		register: func() {
			for _, register := range all {
				if register != nil {
					register()
				}
			}
		},
		carts: carts(apply), settings: settings[Settings](), shards: 8,
	}
}

// another returns an event handler that turns a changed type of an event into what the base has.
func another[E any](in func(c Cart, e E) Cart) func(Cart, any) Cart {
	return func(c Cart, event any) Cart {
		if e, ok := event.(E); ok {
			return in(c, e)
		}
		return c.apply(event)
	}
}

func builds() map[string]build {
	all := map[string]build{"base": of(nil, Cart.apply), "same": of(nil, Cart.apply)}
	maps.Copy(all, incompatible())
	maps.Copy(all, harmless())
	return all
}

func incompatible() map[string]build {
	type (
		renamedField struct {
			Item          string
			Count         int32
			Cost          int64
			Weight        float64
			Size          int
			Color, Coupon string
			Note          *string
			Tags          []string
		}
		narrower struct {
			Item          string
			Count         int32
			Price         int8
			Weight        float64
			Size          int
			Color, Coupon string
			Note          *string
			Tags          []string
		}
		text struct {
			Item          string
			Count         int32
			Price         string
			Weight        float64
			Size          int
			Color, Coupon string
			Note          *string
			Tags          []string
		}
		integer struct {
			Item          string
			Count         int32
			Price         int64
			Weight        int64
			Size          int
			Color, Coupon string
			Note          *string
			Tags          []string
		}
		float struct {
			Item          string
			Count         int32
			Price         float64
			Weight        float64
			Size          int
			Color, Coupon string
			Note          *string
			Tags          []string
		}
		required struct {
			Added
			Currency string
		}
		set struct {
			Item          string
			Count         int32
			Price         int64
			Weight        float64
			Size          int
			Color, Coupon string
			Note          *string
			Tags          map[string]bool
		}
		value struct {
			Item          string
			Count         int32
			Price         int64
			Weight        float64
			Size          int
			Color, Coupon string
			Note          string
			Tags          []string
		}
		swapped struct {
			_    struct{} `cbor:",toarray"`
			Y, X int
		}
		shorter struct {
			Items      map[string]int64
			Sizes      map[string]int
			Total      int64
			Weight     float64
			Paid, X, Y int64
		}
		counting struct {
			Cart
			Times int
		}
		split struct {
			Limit   string
			Country string
		}
		low struct {
			Limit   int16
			Country string
		}
	)
	apply := Cart.apply
	adds := func(c Cart, e Added, price int64) Cart {
		e.Price = price
		return c.apply(e)
	}
	all := map[string]build{
		"renamed-field": of(types{"added": as[renamedField]("shop.added")}, another(func(c Cart, e renamedField) Cart {
			return c.added(e.Item, int64(max(e.Count, 1)), e.Cost, e.Weight, sizes[e.Size], e.Coupon)
		})),
		"meaning-of-zero": of(nil, another(func(c Cart, e Added) Cart {
			return c.added(e.Item, int64(e.Count), e.Price, e.Weight, sizes[e.Size], e.Coupon)
		})),
		"removed-event": of(types{"paid": nil}, apply),
		"narrower-int":  of(types{"added": as[narrower]("shop.added")}, apply),
		"required-field": of(types{"added": as[required]("shop.added")}, another(func(c Cart, e required) Cart {
			if e.Currency == "" {
				panic("an event without a currency")
			}
			return c.apply(e.Added)
		})),
		"changed-type": of(types{"added": as[text]("shop.added")}, apply),
		"renamed-type": of(types{"added": as[Added]("shop.put")}, apply),
		"panic-on-old": of(nil, another(func(c Cart, e Moved) Cart { return c.added("x", int64(10/e.Y), 0, 0, "S", "") })),
		"removed-enum": of(nil, another(func(c Cart, e Added) Cart {
			if e.Color != "red" && e.Color != "blue" {
				return c // no color that this build knows
			}
			return c.apply(e)
		})),
		"changed-unit": of(nil, another(func(c Cart, e Added) Cart { return adds(c, e, e.Price*100) })),
		"float-to-int": of(types{"added": as[integer]("shop.added")}, apply),
		"int-to-float": of(types{"added": as[float]("shop.added")}, another(func(c Cart, e float) Cart {
			return c.added(e.Item, int64(max(e.Count, 1)), int64(e.Price), e.Weight, sizes[e.Size], e.Coupon)
		})),
		"list-to-map":   of(types{"added": as[set]("shop.added")}, apply),
		"swapped-array": of(types{"moved": as[swapped]("shop.moved")}, another(func(c Cart, e swapped) Cart { return c.apply(Moved{X: e.X, Y: e.Y}) })),
		"nil-to-value": of(types{"added": as[value]("shop.added")}, another(func(c Cart, e value) Cart {
			return c.added(e.Item, int64(max(e.Count, 1)), e.Price, e.Weight, sizes[e.Size], e.Coupon)
		})),
		"inserted-constant": of(nil, another(func(c Cart, e Added) Cart {
			return c.added(e.Item, int64(max(e.Count, 1)), e.Price, e.Weight, append([]string{"XS"}, sizes...)[e.Size], e.Coupon)
		})),
		"codec":           of(types{"added": func() { actor.RegisterType[Added]("shop.added", actor.WithCodec(json.Codec{})) }}, apply),
		"renamed-message": of(types{"ping": as[Ping]("shop.pinged")}, apply),
		"renamed-error":   of(types{"sold out": sentinel("shop.none-left")}, apply),
		"reply-type":      of(types{"ask": as[struct{ ReplyTo actor.ActorRef[Settings] }]("shop.ask")}, apply),
		"message-field":   of(types{"ping": as[struct{ M int32 }]("shop.ping")}, apply),
		"by-the-clock": of(nil, another(func(c Cart, e Paid) Cart {
			c.Paid += time.Now().UnixNano()
			return c
		})),
	}
	mandatory := of(nil, apply)
	mandatory.carts = carts(apply, persistence.Options[command, any, Cart]{FromJournal: func(s persistence.StoredEvent) ([]any, error) {
		v, err := s.Value()
		if a, ok := v.(Added); ok && a.Coupon == "" {
			err = errors.New("an event without a coupon")
		}
		return []any{v}, err
	}})
	all["optional-to-mandatory"] = mandatory

	written := of(nil, apply)
	written.carts = carts(apply, persistence.Options[command, any, Cart]{SnapshotEvery: 3, ToJournal: func(e any) (any, int) {
		if a, ok := e.(Added); ok {
			a.Price /= 100
			return a, 1
		}
		return e, 0
	}, FromJournal: func(s persistence.StoredEvent) ([]any, error) {
		v, err := s.Value()
		if a, ok := v.(Added); ok && s.Version == 1 {
			a.Price *= 100
			v = a
		}
		return []any{v}, err
	}})
	all["changed-unit-in-journal"] = written

	tagged := of(nil, apply)
	tagged.carts = carts(apply, persistence.Options[command, any, Cart]{SnapshotEvery: 3, Tags: func(Cart, any) []string { return nil }})
	all["removed-tag"] = tagged

	shards := of(nil, apply)
	shards.shards = 16
	all["shards"] = shards

	once := of(nil, apply)
	once.options = []singleton.Option{singleton.AtLeastOnce(100), singleton.Role("ledger")}
	all["singleton-settings"] = once

	night := of(nil, apply)
	night.schedule = []singleton.Option{singleton.Role("night")}
	all["schedule-role"] = night

	ids := of(nil, apply)
	ids.carts = func(id string, j persistence.Journal) actor.Behavior[command] { return carts(apply)("basket-"+id, j) }
	all["id-scheme"] = ids

	gone := of(nil, apply)
	gone.parts = []rehearsal.Part{rehearsal.Of("basket", gone.carts), rehearsal.Of("settings", gone.settings)}
	all["id-gone"] = gone

	newer := of(types{"cart": as[Cart]("shop.cart/2")}, apply)
	all["newer-snapshot"] = newer // the journal is of this one

	less := of(types{"cart": as[shorter]("shop.cart")}, apply)
	less.carts = carts(func(s shorter, e any) shorter {
		c := Cart{s.Items, s.Sizes, s.Total, s.Weight, s.Paid, int(s.X), int(s.Y), 0}.apply(e)
		return shorter{c.Items, c.Sizes, c.Total, c.Weight, c.Paid, int64(c.X), int64(c.Y)}
	})
	all["removed-state-field"] = less

	more := of(types{"cart": as[counting]("shop.cart")}, apply)
	more.carts = carts(func(s counting, e any) counting { return counting{s.apply(e), s.Times + 1} })
	all["computed-state-field"] = more

	kind := of(types{"settings": as[split]("shop.settings")}, apply)
	kind.settings = settings[split]()
	all["durable-type"] = kind

	small := of(types{"settings": as[low]("shop.settings")}, apply)
	small.settings = settings[low]()
	all["durable-narrower"] = small
	return all
}

// cased is Paid with another case of its field.
type cased struct{ AMOUNT int64 }

func harmless() map[string]build {
	type (
		addedField struct {
			Added
			Gift bool
		}
		put     Added // renamed in Go
		renamed struct {
			What   string `cbor:"Item"`
			Count  int32
			Price  int64
			Weight float64
			Size   int
			Color  string
			Note   *string
			Tags   []string
			Coupon string
		}
		wider struct {
			Tags          []string // and in another order
			Item          string
			Count         int64
			Price         int64
			Weight        float64
			Size          int
			Color, Coupon string
			Note          *string
		}
		pointers struct {
			Item   *string
			Count  int32
			Price  *int64
			Weight float64
			Size   int
			Color  string
			Note   *string
			Tags   []string
			Coupon string
		}
		appended struct {
			_       struct{} `cbor:",toarray"`
			X, Y, Z int
		}
		unused struct {
			Item   string
			Count  int32
			Price  int64
			Weight float64
			Size   int
			Note   *string
			Tags   []string
			Coupon string
		}
		Place  struct{ X, Y int }
		placed struct {
			Items    map[string]int64
			Sizes    map[string]int
			Total    int64
			Weight   float64
			Paid     int64
			Place    // embedded, so it is stored as before
			Discount int
			cached   string `cbor:"-"`
		}
		Refunded struct{ Amount int64 }
		more     struct {
			Settings
			Language string
		}
	)
	apply := Cart.apply
	all := map[string]build{
		"added-field":     of(types{"added": as[addedField]("shop.added")}, another(func(c Cart, e addedField) Cart { return c.apply(e.Added) })),
		"renamed-go-type": of(types{"added": as[put]("shop.added")}, another(func(c Cart, e put) Cart { return c.apply(Added(e)) })),
		"renamed-with-tag": of(types{"added": as[renamed]("shop.added")}, another(func(c Cart, e renamed) Cart {
			return c.added(e.What, int64(max(e.Count, 1)), e.Price, e.Weight, sizes[e.Size], e.Coupon)
		})),
		"wider-int": of(types{"added": as[wider]("shop.added"), "ping": as[struct{ N int64 }]("shop.ping")}, another(func(c Cart, e wider) Cart {
			return c.added(e.Item, max(e.Count, 1), e.Price, e.Weight, sizes[e.Size], e.Coupon)
		})),
		"value-to-pointer": of(types{"added": as[pointers]("shop.added")}, another(func(c Cart, e pointers) Cart {
			return c.added(*e.Item, int64(max(e.Count, 1)), *e.Price, e.Weight, sizes[e.Size], e.Coupon)
		})),
		"appended-element": of(types{"moved": as[appended]("shop.moved")}, another(func(c Cart, e appended) Cart { return c.apply(Moved{X: e.X, Y: e.Y}) })),
		"unused-field-removed": of(types{"added": as[unused]("shop.added")}, another(func(c Cart, e unused) Cart {
			return c.added(e.Item, int64(max(e.Count, 1)), e.Price, e.Weight, sizes[e.Size], e.Coupon)
		})),
		"new-error":       of(types{"no room": sentinel("shop.no-room")}, apply),
		"new-event":       of(types{"refunded": as[Refunded]("shop.refunded")}, apply),
		"case-of-a-field": of(types{"paid": as[cased]("shop.paid")}, another(func(c Cart, e cased) Cart { return c.apply(Paid{e.AMOUNT}) })),
	}
	embedded := of(types{"cart": as[placed]("shop.cart")}, apply)
	embedded.carts = carts(func(s placed, e any) placed {
		c := Cart{s.Items, s.Sizes, s.Total, s.Weight, s.Paid, s.X, s.Y, s.Discount}.apply(e)
		return placed{c.Items, c.Sizes, c.Total, c.Weight, c.Paid, Place{c.X, c.Y}, c.Discount, "a text"}
	})
	all["embedded-struct"] = embedded

	snapshots := of(nil, apply)
	snapshots.carts = carts(apply, persistence.Options[command, any, Cart]{SnapshotEvery: 1000, KeepSnapshots: 5})
	all["other-snapshots"] = snapshots

	tagged := of(nil, apply)
	tagged.carts = carts(apply, persistence.Options[command, any, Cart]{SnapshotEvery: 3, Tags: func(_ Cart, event any) []string {
		if _, ok := event.(Paid); ok {
			return []string{"paid", "money"}
		}
		return []string{"cart"}
	}})
	all["added-tag"] = tagged

	waiting := of(nil, apply)
	waiting.schedule = []singleton.Option{singleton.Buffer(10)}
	all["other-buffer-of-schedule"] = waiting

	patient := of(nil, apply)
	patient.options = []singleton.Option{singleton.Buffer(10)} // which members do not compare
	all["other-buffer"] = patient

	adapted := of(nil, apply)
	adapted.carts = carts(apply, persistence.Options[command, any, Cart]{SnapshotEvery: 3, FromJournal: persistence.Unchanged[any]})
	all["an-adapter"] = adapted

	language := of(types{"settings": as[more]("shop.settings")}, apply)
	language.settings = settings[more]()
	all["durable-field"] = language
	return all
}
