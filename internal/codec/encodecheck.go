package codec

import (
	"bytes"
	"errors"
	"reflect"
	"sync"

	"github.com/understudy-go/understudy/internal/guard"
)

func (s *shape) append(buf []byte, v any) ([]byte, error) {
	b := headers.Get().(*bytes.Buffer)
	defer func() {
		*b = bytes.Buffer{}
		headers.Put(b)
	}()
	*b = *bytes.NewBuffer(buf)
	err := s.encode(b, v)
	return b.Bytes(), err
}

var headers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// v has the type of s. It fails with [*EncodeError] if decoding would refuse or change v.
func (s *shape) encode(buf *bytes.Buffer, v any) error {
	before := buf.Len()
	value := reflect.ValueOf(v)
	if f := s.find(value); f != nil {
		return f.in(s.typ)
	}
	err := guard.Run(func() error { return s.write(buf, v, value) })
	data := buf.Bytes()[min(before, buf.Len()):]
	switch {
	case err != nil:
	case len(data) > MaxSize:
		err = errSize
	case s.unproven:
		return s.prove(value, data)
	case s.opaque:
		err = decoding.Wellformed(data)
	}
	if err != nil {
		return s.blame(value, err)
	}
	return nil
}

func (s *shape) write(buf *bytes.Buffer, v any, value reflect.Value) error {
	if !s.parted {
		return encoding.MarshalToBuffer(v, buf)
	}
	if f := encodeParts(buf, value); f != nil {
		return f.in(s.typ)
	}
	return nil
}

func (s *shape) find(v reflect.Value) *fault {
	if s.check == nil {
		return nil
	}
	w := walks.Get().(*walk) // only walks are put there
	*w = walk{}
	f := s.check(w, v)
	walks.Put(w)
	return f
}

var walks = sync.Pool{New: func() any { return new(walk) }}

func (s *shape) accepts(v reflect.Value) error {
	if f := s.find(v); f != nil {
		return f.in(s.typ)
	}
	return nil
}

// data is the encoding of v.
func (s *shape) prove(v reflect.Value, data []byte) error {
	back := reflect.New(s.typ)
	if err := unmarshal(decoding, data, back.Interface()); err != nil {
		return s.blame(v, err)
	}
	var f *fault
	if err := guard.Do(func() { f = same(v, back.Elem()) }); err != nil {
		return s.blame(v, err)
	}
	if f != nil {
		return f.in(s.typ)
	}
	return nil
}

func (s *shape) blame(v reflect.Value, err error) error {
	if known, ok := errors.AsType[*EncodeError](err); ok && s.parted && known.Type == s.typ {
		return known
	}
	if f := culprit(v); f != nil {
		return f.in(s.typ)
	}
	return &EncodeError{Type: s.typ, Err: err}
}

// culprit finds a value with an encoding or decoding method that fails. It is called only after a
// walk over the value, so the value does not contain itself.
func culprit(v reflect.Value) *fault {
	if formatsOf(v.Type()) != nil {
		return nil
	}
	if encodesItself(v.Type()) || decodesItself(v.Type()) {
		return fails(v)
	}
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			return culprit(v.Elem())
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			if f := culprit(v.Index(i)); f != nil {
				return f.at("[%d]", i)
			}
		}
	case reflect.Map:
		for all := v.MapRange(); all.Next(); {
			if f := culprit(all.Key()); f != nil {
				return f.at(" key %q", short(all.Key()))
			}
			if f := culprit(all.Value()); f != nil {
				return f.at("[%q]", short(all.Key()))
			}
		}
	case reflect.Struct:
		for f := range v.Type().Fields() {
			if !isEncoded(f) {
				continue
			}
			if found := culprit(v.Field(f.Index[0])); found != nil {
				return found.at(".%s", f.Name)
			}
		}
	}
	return nil
}

func fails(v reflect.Value) *fault {
	if !v.CanInterface() {
		return nil
	}
	var data []byte
	err := guard.Run(func() (err error) {
		data, err = bytesOf(v)
		return err
	})
	if err == nil {
		err = unmarshal(decoding, data, reflect.New(v.Type()).Interface())
	}
	if err != nil {
		return &fault{err: err}
	}
	return nil
}
