package slogcore

import (
	"bytes"
	"log/slog"
	"slices"
	"strconv"
	"time"

	"go.uber.org/zap/zapcore"
)

type attributes struct {
	open []namespace // outermost first
	last []slog.Attr // those in the innermost namespace
}

// A namespace contains all attributes that follow it.
type namespace struct {
	before []slog.Attr // those outside of it, in the namespace around
	name   string
}

func attributesOf(fields []zapcore.Field) *attributes {
	a := &attributes{last: make([]slog.Attr, 0, len(fields))}
	for _, f := range fields {
		if stays(f) {
			a.add(f.Key, slog.AnyValue(f.Interface))
		} else {
			f.AddTo(a)
		}
	}
	return a
}

// Zap would add its text: it is an error, or a Stringer with a form for slog, which may hide a
// secret.
func stays(f zapcore.Field) bool {
	_, hasForm := f.Interface.(slog.LogValuer)
	return f.Type == zapcore.ErrorType || f.Type == zapcore.StringerType && hasForm
}

// Each namespace is a group.
func (a *attributes) all() []slog.Attr {
	all := a.last
	for _, n := range slices.Backward(a.open) {
		all = append(n.before, slog.Attr{Key: n.name, Value: slog.GroupValue(all...)})
	}
	return all
}

func (a *attributes) add(key string, v slog.Value) {
	a.last = append(a.last, slog.Attr{Key: key, Value: v})
}

func (a *attributes) OpenNamespace(key string) {
	a.open, a.last = append(a.open, namespace{a.last, key}), nil
}

func (a *attributes) AddObject(key string, o zapcore.ObjectMarshaler) error {
	var in attributes
	err := o.MarshalLogObject(&in)
	a.add(key, slog.GroupValue(in.all()...))
	return err
}

// Its elements keep their types. Objects in it are maps, because slog has no groups in slices.
func (a *attributes) AddArray(key string, elements zapcore.ArrayMarshaler) error {
	m := zapcore.NewMapObjectEncoder()
	err := m.AddArray(key, elements)
	a.add(key, slog.AnyValue(m.Fields[key]))
	return err
}

func (a *attributes) AddReflected(key string, v any) error {
	a.add(key, slog.AnyValue(v))
	return nil
}

// The handler may keep the value.
func (a *attributes) AddBinary(key string, v []byte) { a.add(key, slog.AnyValue(bytes.Clone(v))) }

// JSON has no complex numbers.
func (a *attributes) AddComplex128(key string, v complex128) {
	a.AddString(key, strconv.FormatComplex(v, 'g', -1, 128))
}

func (a *attributes) AddComplex64(key string, v complex64) {
	a.AddString(key, strconv.FormatComplex(complex128(v), 'g', -1, 64))
}

func (a *attributes) AddBool(key string, v bool)              { a.add(key, slog.BoolValue(v)) }
func (a *attributes) AddByteString(key string, v []byte)      { a.AddString(key, string(v)) }
func (a *attributes) AddDuration(key string, v time.Duration) { a.add(key, slog.DurationValue(v)) }
func (a *attributes) AddFloat32(key string, v float32)        { a.AddFloat64(key, float64(v)) }
func (a *attributes) AddFloat64(key string, v float64)        { a.add(key, slog.Float64Value(v)) }
func (a *attributes) AddInt(key string, v int)                { a.AddInt64(key, int64(v)) }
func (a *attributes) AddInt8(key string, v int8)              { a.AddInt64(key, int64(v)) }
func (a *attributes) AddInt16(key string, v int16)            { a.AddInt64(key, int64(v)) }
func (a *attributes) AddInt32(key string, v int32)            { a.AddInt64(key, int64(v)) }
func (a *attributes) AddInt64(key string, v int64)            { a.add(key, slog.Int64Value(v)) }
func (a *attributes) AddString(key, v string)                 { a.add(key, slog.StringValue(v)) }
func (a *attributes) AddTime(key string, v time.Time)         { a.add(key, slog.TimeValue(v)) }
func (a *attributes) AddUint(key string, v uint)              { a.AddUint64(key, uint64(v)) }
func (a *attributes) AddUint8(key string, v uint8)            { a.AddUint64(key, uint64(v)) }
func (a *attributes) AddUint16(key string, v uint16)          { a.AddUint64(key, uint64(v)) }
func (a *attributes) AddUint32(key string, v uint32)          { a.AddUint64(key, uint64(v)) }
func (a *attributes) AddUint64(key string, v uint64)          { a.add(key, slog.Uint64Value(v)) }
func (a *attributes) AddUintptr(key string, v uintptr)        { a.AddUint64(key, uint64(v)) }
