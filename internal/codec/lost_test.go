package codec

import (
	"math/big"
	"net/url"
	"reflect"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

type (
	note struct {
		Text   string
		author string
	}
	cents struct{ n int }

	wellKept struct {
		_      struct{} `cbor:",toarray"`
		mu     sync.Mutex
		Public sync.RWMutex
		size   struct{}
		cache  map[string]int `cbor:"-"`
		Done   func()         `cbor:"-"`
		Notes  []note         `cbor:"-"`
		At     time.Time
		Link   *url.URL
		Big    *big.Int
		Next   *wellKept
		Any    any
		Err    error
		Codes  map[[2]int]methodical
		inlined
	}
	inlined    struct{ Inside int }
	methodical struct{ n int }
	counting   struct{ N atomic.Int64 }
	shares     struct{ Share []big.Rat }
	concurrent struct{ All sync.Map }
	timedNote  struct {
		time.Time
		by string
	}
)

func (m methodical) MarshalBinary() ([]byte, error) { return []byte{byte(m.n)}, nil }

func TestAFieldIsLostOnlyIfItsTagSaysSo(t *testing.T) {
	require.True(t, (&wellKept{size: struct{}{}, cache: nil}).mu.TryLock())
	_ = []any{note{author: ""}, cents{n: 1}, timedNote{by: ""}}
	for typ, problem := range map[reflect.Type]string{
		reflect.TypeFor[wellKept](): "",
		reflect.TypeFor[any]():      "",
		reflect.TypeFor[func()]():   "",

		reflect.TypeFor[note]():                                  "the field author of codec.note is not exported, so it would be lost on the wire and in journals; export it as Author, or give the type methods MarshalCBOR and UnmarshalCBOR; or, if each node may have it for itself, leave it out in the line of note: author string `cbor:\"-\"`",
		reflect.TypeFor[*[]note]():                               "the field author of codec.note, at [].author, is not exported, so it would be lost on the wire and in journals; export it as Author, or give the type methods MarshalCBOR and UnmarshalCBOR, register codec.note with actor.WithCodec before *[]codec.note; or,",
		reflect.TypeFor[struct{ Notes map[string][]*note }]():    ", at .Notes[][].author, is not exported",
		reflect.TypeFor[struct{ By map[note]int }]():             ", at .By[].author, is not exported",
		reflect.TypeFor[struct{ Price cents }]():                 "the field n of codec.cents, at .Price.n, is not exported",
		reflect.TypeFor[timedNote]():                             "the field by of codec.timedNote is not exported",
		reflect.TypeFor[struct{ Done chan int }]():               "the field Done of struct { Done chan int } has a chan int, which cannot be encoded; or, if each node may have it for itself, leave it out in the line of struct { Done chan int }: Done chan int `cbor:\"-\"`",
		reflect.TypeFor[struct{ Then []func() }]():               "has a func(), which cannot be encoded",
		reflect.TypeFor[struct{ N complex64 }]():                 "has a complex64, which cannot be encoded",
		reflect.TypeFor[counting]():                              "would be lost: a atomic.Int64 exports no fields, and has no methods MarshalCBOR or MarshalBinary; use another type",
		reflect.TypeFor[shares]():                                "the field Share of codec.shares would be lost: a big.Rat exports no fields",
		reflect.TypeFor[concurrent]():                            "would be lost: a sync.Map exports no fields",
		reflect.TypeFor[struct{ methodicalNumber }]():            "the field methodicalNumber of struct { codec.methodicalNumber } is not exported",
		reflect.TypeFor[secretive]():                             "the field Secret of codec.secretive has the tag `json:\"-\"`, by which it would be lost; add the tag `cbor:\"Secret\"` to keep it; or, if each node may have it for itself, leave it out in the line of secretive: Secret string `json:\"-\" cbor:\"-\"`",
		reflect.TypeFor[struct{ Deep struct{ In secretive } }](): ", at .Deep.In.Secret, has the tag",
	} {
		err := CheckFields(typ)
		if problem == "" {
			require.NoError(t, err, typ)
			continue
		}
		require.ErrorContains(t, err, problem, typ)
		require.ErrorAs(t, err, new(*LostFieldError))
	}
}

type methodicalNumber int
