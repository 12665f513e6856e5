package codec_test

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/codec"
)

type (
	formPart struct{ A int16 }
	formTree struct{ Children []formTree }
	formAll  struct {
		formPart
		Name  string `cbor:"name"`
		Since *time.Time
		Data  []byte
		By    map[uint8]float32
		Any   any
		Tree  formTree
		Point struct {
			_ struct{} `cbor:",toarray"`
			X int
		}
		Number int `cbor:"7,keyasint"`
	}
)

func TestTheFormOfATypeSaysHowItIsEncoded(t *testing.T) {
	codec.Register("form_test.all", reflect.TypeFor[formAll](), false)
	data, err := json.Marshal(codec.Forms()["form_test.all"])
	require.NoError(t, err)
	require.JSONEq(t, `{"kind":"struct","fields":[
		{"name":"A","form":{"kind":"int16"}},
		{"name":"name","form":{"kind":"text"}},
		{"name":"Since","form":{"kind":"time","null":true}},
		{"name":"Data","form":{"kind":"bytes"}},
		{"name":"By","form":{"kind":"map","key":{"kind":"uint8"},"elem":{"kind":"float32"}}},
		{"name":"Any","form":{"kind":"any"}},
		{"name":"Tree","form":{"kind":"struct","fields":[{"name":"Children","form":{"kind":"list","elem":{"kind":"again"}}}]}},
		{"name":"Point","form":{"kind":"array","fields":[{"name":"X","form":{"kind":"int64"}}]}},
		{"name":"#7","form":{"kind":"int64"}}
	]}`, string(data))
}
