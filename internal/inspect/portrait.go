package inspect

import (
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"encoding"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/understudy-go/understudy/internal/codec"
	"github.com/understudy-go/understudy/internal/guard"
)

// A Painter turns values into JSON by which two programs compare them. Unlike a [Shower] it leaves
// nothing out. Fields have the names under which they are stored; a field that is not stored has
// the one in Go, after a "~". The key of a map has brackets. Secrets and long bytes are hashes.
type Painter struct {
	Key []byte // of the hashes; two programs that compare have the same one

	buf    []byte
	within map[uintptr]bool // pointers on the way
}

// maxPortrait bounds the JSON of one value; what is beyond is one hash.
const maxPortrait = 32 << 20

// Paint returns v as JSON. It is for one goroutine.
func (p *Painter) Paint(v any) json.RawMessage {
	p.buf, p.within = nil, map[uintptr]bool{}
	root := reflect.ValueOf(v)
	if root.IsValid() { // an addressable one has the methods of its pointer
		root = reflect.New(root.Type()).Elem()
		root.Set(reflect.ValueOf(v))
	}
	p.paint(root)
	if len(p.buf) > maxPortrait {
		p.buf = p.text(nil, "<"+p.hash(p.buf)+">")
	}
	return p.buf
}

func (p *Painter) hash(data []byte) string {
	mac := hmac.New(sha256.New, p.Key)
	_, _ = mac.Write(data) // never fails
	return hex.EncodeToString(mac.Sum(nil)[:8])
}

func (*Painter) text(to []byte, s string) []byte {
	quoted, err := json.Marshal(s)
	if err != nil {
		return append(to, `"?"`...) // a string always has JSON
	}
	return append(to, quoted...)
}

func (p *Painter) add(s string)     { p.buf = append(p.buf, s...) }
func (p *Painter) addText(s string) { p.buf = p.text(p.buf, s) }

func (p *Painter) paint(v reflect.Value) {
	if !v.IsValid() {
		p.add("null")
		return
	}
	if text, ok := ownText(v); ok {
		p.addText(text)
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		p.pointer(v)
	case reflect.Interface:
		p.paint(v.Elem())
	case reflect.Struct:
		p.fields(v)
	case reflect.Map:
		p.entries(v)
	case reflect.Slice, reflect.Array:
		p.elements(v)
	case reflect.String:
		p.addText(v.String())
	case reflect.Bool:
		p.add(strconv.FormatBool(v.Bool()))
	case reflect.Float32, reflect.Float64:
		p.float(v.Float())
	case reflect.Complex64, reflect.Complex128:
		p.addText(fmt.Sprint(v.Complex()))
	case reflect.Func, reflect.Chan, reflect.UnsafePointer:
		p.addText("<" + v.Kind().String() + ">")
	default:
		if v.CanInt() {
			p.add(strconv.FormatInt(v.Int(), 10))
		} else {
			p.add(strconv.FormatUint(v.Uint(), 10))
		}
	}
}

// An integer is the same number as a float.
func (p *Painter) float(f float64) {
	switch {
	case math.IsNaN(f), math.IsInf(f, 0):
		p.addText(fmt.Sprint(f))
	case f == math.Trunc(f) && math.Abs(f) < 1<<53:
		p.add(strconv.FormatInt(int64(f), 10))
	default:
		p.add(strconv.FormatFloat(f, 'g', -1, 64))
	}
}

func (p *Painter) pointer(v reflect.Value) {
	at := v.Pointer()
	switch {
	case v.IsNil():
		p.add("null")
	case p.within[at]:
		p.addText("<cycle>")
	default:
		p.within[at] = true
		p.paint(v.Elem())
		delete(p.within, at)
	}
}

func (p *Painter) elements(v reflect.Value) {
	if v.Type().Elem().Kind() == reflect.Uint8 {
		p.bytes(v)
		return
	}
	p.add("[")
	for i := range v.Len() {
		if i > 0 {
			p.add(",")
		}
		if p.paint(v.Index(i)); len(p.buf) > maxPortrait {
			break // it becomes a hash
		}
	}
	p.add("]")
}

const shortBytes = 32

func (p *Painter) bytes(v reflect.Value) {
	data := make([]byte, v.Len())
	for i := range data {
		data[i] = byte(v.Index(i).Uint())
	}
	if len(data) <= shortBytes {
		p.addText("0x" + hex.EncodeToString(data))
		return
	}
	p.addText(fmt.Sprintf("<%d bytes %s>", len(data), p.hash(data)))
}

func (p *Painter) entries(v reflect.Value) {
	type entry struct {
		key   string
		value reflect.Value
	}
	all := make([]entry, 0, v.Len())
	for i := v.MapRange(); i.Next(); {
		all = append(all, entry{p.keyOf(i.Key()), i.Value()})
	}
	slices.SortFunc(all, func(a, b entry) int { return cmp.Compare(a.key, b.key) })
	p.add("{")
	for i, e := range all {
		if i > 0 {
			p.add(",")
		}
		p.addText("[" + e.key + "]")
		p.add(":")
		p.paint(e.value)
	}
	p.add("}")
}

func (p *Painter) keyOf(key reflect.Value) string {
	before := len(p.buf)
	p.paint(key)
	text := string(p.buf[before:])
	p.buf = p.buf[:before]
	if key.Kind() == reflect.String {
		return key.String()
	}
	return text
}

func (p *Painter) fields(v reflect.Value) {
	p.add("{")
	first := true
	for _, f := range fieldsOf(v.Type()) {
		of, err := v.FieldByIndexErr(f.index)
		if err != nil {
			continue // within a pointer that is nil
		}
		if !first {
			p.add(",")
		}
		first = false
		p.addText(f.name)
		p.add(":")
		before := len(p.buf)
		if p.paint(of); f.secret && !of.IsZero() {
			p.buf = p.text(p.buf[:before], "<secret "+p.hash(p.buf[before:])+">")
		}
	}
	p.add("}")
}

type painted struct {
	name   string
	index  []int
	secret bool
}

var paintedFields sync.Map // of []painted, by reflect.Type

// fieldsOf returns the fields of a struct by their names.
func fieldsOf(t reflect.Type) []painted {
	if all, ok := paintedFields.Load(t); ok {
		return all.([]painted) // nothing else is stored
	}
	var all []painted
	for _, f := range codec.FieldsOf(t) {
		all = append(all, painted{f.Name, f.Index, t.FieldByIndex(f.Index).Tag.Get("understudy") == SecretTag})
	}
	for f := range t.Fields() {
		if !codec.IsEncoded(f) && f.Name != "_" {
			all = append(all, painted{"~" + f.Name, f.Index, f.Tag.Get("understudy") == SecretTag})
		}
	}
	slices.SortFunc(all, func(a, b painted) int { return cmp.Compare(a.name, b.name) })
	paintedFields.Store(t, all)
	return all
}

// ownText is the text of a time, of a ref, and of what else makes a text of itself.
func ownText(v reflect.Value) (text string, ok bool) {
	if v.Type().PkgPath() == "" || v.Kind() == reflect.Interface || !v.CanInterface() { // only named types have methods
		return "", false
	}
	if t, is := reflect.TypeAssert[time.Time](v); is {
		return t.UTC().Format(time.RFC3339Nano), true
	}
	m, is := reflect.TypeAssert[encoding.TextMarshaler](v)
	if !is && v.CanAddr() {
		m, is = reflect.TypeAssert[encoding.TextMarshaler](v.Addr())
	}
	if !is {
		return "", false
	}
	err := guard.Run(func() error {
		b, err := m.MarshalText()
		text = string(b)
		return err
	})
	if err != nil {
		return "", false
	}
	return strings.ToValidUTF8(text, "\uFFFD"), true
}
