package actor

import (
	"reflect"
	"time"

	"github.com/understudy-go/understudy/internal/codec"
)

// The types that are registered from the start have results, too.
func init() {
	basic[bool]()
	basic[string]()
	basic[[]byte]()
	basic[time.Time]()
	basic[time.Duration]()
	basic[struct{}]()
	basic[int]()
	basic[int8]()
	basic[int16]()
	basic[int32]()
	basic[int64]()
	basic[uint]()
	basic[uint8]()
	basic[uint16]()
	basic[uint32]()
	basic[uint64]()
	basic[float32]()
	basic[float64]()
	basic[[]string]()
	basic[[]int]()
	basic[[]int64]()
	basic[[]uint64]()
	basic[[]float64]()
	basic[map[string]string]()
	basic[map[string]int]()
}

func basic[T any]() {
	name, _ := codec.NameOf(reflect.TypeFor[T]())
	registerResult[T](name)
}
