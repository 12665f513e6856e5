package slogcore_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"sync"
	"testing"
	"testing/slogtest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/understudy-go/understudy/internal/slogcore"
)

// A recorder is a handler that keeps the records.
type recorder struct{ records []slog.Record }

func (*recorder) Enabled(context.Context, slog.Level) bool { return true }

func (r *recorder) Handle(_ context.Context, record slog.Record) error {
	r.records = append(r.records, record)
	return nil
}

func (r *recorder) WithAttrs([]slog.Attr) slog.Handler { return r }

func (r *recorder) WithGroup(string) slog.Handler { return r }

// attrs returns the attributes of the only record.
func (r *recorder) attrs(t *testing.T) (all []slog.Attr) {
	t.Helper()
	require.Len(t, r.records, 1)
	r.records[0].Attrs(func(a slog.Attr) bool {
		all = append(all, a)
		return true
	})
	return all
}

// inJSON returns what log writes through a JSON handler.
func inJSON(t *testing.T, log func(*zap.Logger)) (line map[string]any) {
	t.Helper()
	var out bytes.Buffer
	log(zap.New(slogcore.New(slog.NewJSONHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug}))))
	require.NoError(t, json.Unmarshal(out.Bytes(), &line), out.String())
	delete(line, slog.TimeKey)
	return line
}

// A point is an object of zap.
type point struct{ x, y int }

func (p point) MarshalLogObject(enc zapcore.ObjectEncoder) error {
	enc.AddInt("x", p.x)
	enc.AddInt("y", p.y)
	return nil
}

// A half is an object that fails after its first field.
type half struct{}

var errHalf = errors.New("no second half")

func (half) MarshalLogObject(enc zapcore.ObjectEncoder) error {
	enc.AddInt("first", 1)
	return errHalf
}

func TestFieldsKeepTheirTypes(t *testing.T) {
	at := time.Date(2026, 11, 26, 3, 0, 0, 5, time.UTC)
	broken := errors.New("broken")
	var none *time.Location
	for _, test := range []struct {
		field zap.Field
		want  slog.Value
	}{
		{zap.String("k", "v"), slog.StringValue("v")},
		{zap.ByteString("k", []byte("v")), slog.StringValue("v")},
		{zap.Binary("k", []byte{1, 2}), slog.AnyValue([]byte{1, 2})},
		{zap.Bool("k", true), slog.BoolValue(true)},
		{zap.Int("k", -1), slog.Int64Value(-1)},
		{zap.Int8("k", -1), slog.Int64Value(-1)},
		{zap.Int16("k", -1), slog.Int64Value(-1)},
		{zap.Int32("k", -1), slog.Int64Value(-1)},
		{zap.Uint("k", 1<<63), slog.Uint64Value(1 << 63)},
		{zap.Uint8("k", 1), slog.Uint64Value(1)},
		{zap.Uint16("k", 1), slog.Uint64Value(1)},
		{zap.Uint32("k", 1), slog.Uint64Value(1)},
		{zap.Uintptr("k", 1), slog.Uint64Value(1)},
		{zap.Float64("k", 0.5), slog.Float64Value(0.5)},
		{zap.Float32("k", 0.5), slog.Float64Value(0.5)},
		{zap.Complex128("k", 1+2i), slog.StringValue("(1+2i)")},
		{zap.Complex64("k", 1+2i), slog.StringValue("(1+2i)")},
		{zap.Duration("k", time.Second), slog.DurationValue(time.Second)},
		{zap.Time("k", at), slog.TimeValue(at)},
		{zap.Time("k", at.AddDate(1000, 0, 0)), slog.TimeValue(at.AddDate(1000, 0, 0))},
		{zap.NamedError("k", broken), slog.AnyValue(broken)},
		{zap.Stringer("k", time.UTC), slog.StringValue("UTC")},
		{zap.Stringer("k", none), slog.StringValue("UTC")},
		{zap.Any("k", map[string]int{"a": 1}), slog.AnyValue(map[string]int{"a": 1})},
		{zap.Reflect("k", nil), slog.AnyValue(nil)},
		{zap.Object("k", point{1, 2}), slog.GroupValue(slog.Int("x", 1), slog.Int("y", 2))},
		{
			zap.Dict("k", zap.Bool("a", true), zap.Namespace("in"), zap.Int("b", 1)),
			slog.GroupValue(slog.Bool("a", true), slog.Group("in", slog.Int("b", 1))),
		},
		{zap.Durations("k", []time.Duration{1}), slog.AnyValue([]any{time.Duration(1)})},
		{zap.Objects("k", []point{{1, 2}}), slog.AnyValue([]any{map[string]any{"x": 1, "y": 2}})},
	} {
		var r recorder
		zap.New(slogcore.New(&r)).Info("message", test.field)
		got := r.attrs(t)
		require.Len(t, got, 1, "%v", test.field)
		require.Equal(t, "k", got[0].Key)
		require.Equal(t, test.want.Kind(), got[0].Value.Kind(), "%v", test.want)
		require.Equal(t, test.want.Any(), got[0].Value.Any())
	}
}

// A secret hides its text.
type secret string

func (secret) String() string { return "the text" }

func (secret) LogValue() slog.Value { return slog.StringValue("hidden") }

func TestAValueWithAFormForSlogHasThatForm(t *testing.T) {
	got := inJSON(t, func(log *zap.Logger) { log.Info("message", zap.Any("a", secret("x")), zap.Stringer("b", secret("x"))) })
	require.Equal(t, "hidden", got["a"])
	require.Equal(t, "hidden", got["b"])
}

func TestAFieldThatFailsIsFollowedByItsError(t *testing.T) {
	var r recorder
	zap.New(slogcore.New(&r)).Info("message", zap.Object("k", half{}), zap.Skip())
	require.Equal(t, []slog.Attr{slog.Group("k", slog.Int("first", 1)), slog.String("kError", errHalf.Error())}, r.attrs(t))
}

func TestEachLevelHasItsLevelOfSlog(t *testing.T) {
	for from, to := range map[zapcore.Level]slog.Level{
		zap.DebugLevel - 1: slog.LevelDebug - 4,
		zap.DebugLevel:     slog.LevelDebug,
		zap.InfoLevel:      slog.LevelInfo,
		zap.WarnLevel:      slog.LevelWarn,
		zap.ErrorLevel:     slog.LevelError,
		zap.DPanicLevel:    slog.LevelError + 4,
		zap.PanicLevel:     slog.LevelError + 8,
		zap.FatalLevel:     slog.LevelError + 12,
	} {
		var r recorder
		log := zap.New(slogcore.New(&r), zap.WithPanicHook(zapcore.WriteThenGoexit), zap.WithFatalHook(zapcore.WriteThenGoexit))
		var ended sync.WaitGroup
		ended.Go(func() { log.Log(from, "message") })
		ended.Wait()
		require.Len(t, r.records, 1)
		require.Equal(t, to, r.records[0].Level)
		require.Equal(t, "message", r.records[0].Message)
		require.False(t, r.records[0].Time.IsZero())
	}
}

func TestTheLoggerNameAndTheStackAreAttributes(t *testing.T) {
	var r recorder
	zap.New(slogcore.New(&r), zap.AddStacktrace(zap.InfoLevel)).Named("a").Named("b").Info("message", zap.Int("n", 1))
	got := r.attrs(t)
	require.Len(t, got, 3)
	require.Equal(t, []slog.Attr{slog.String("logger", "a.b"), slog.Int("n", 1)}, got[:2])
	require.Equal(t, "stacktrace", got[2].Key)
	require.Contains(t, got[2].Value.String(), "TestTheLoggerNameAndTheStackAreAttributes")
}

func TestNamespacesAreGroups(t *testing.T) {
	got := inJSON(t, func(log *zap.Logger) {
		log.With(zap.Int("a", 1), zap.Namespace("outer"), zap.Int("b", 2)).
			With(zap.Namespace("inner")).
			Info("message", zap.Int("c", 3), zap.Namespace("last"), zap.Inline(point{4, 5}))
	})
	require.Equal(t, map[string]any{
		"level": "INFO", "msg": "message", "a": 1.0,
		"outer": map[string]any{"b": 2.0, "inner": map[string]any{"c": 3.0, "last": map[string]any{"x": 4.0, "y": 5.0}}},
	}, got)
}

func TestALineInJSONHasTheTextsOfErrors(t *testing.T) {
	got := inJSON(t, func(log *zap.Logger) {
		log.Debug("message", zap.Error(errHalf), zap.Errors("all", []error{errHalf}), zap.Any("any", errHalf),
			zap.Strings("texts", []string{"a"}), zap.Any("point", struct{ X int }{1}))
	})
	require.Equal(t, map[string]any{
		"level": "DEBUG", "msg": "message", "error": errHalf.Error(), "any": errHalf.Error(),
		"all": []any{map[string]any{"error": errHalf.Error()}}, "texts": []any{"a"}, "point": map[string]any{"X": 1.0},
	}, got)
}

// An attaching handler counts what is attached to it.
type attaching struct {
	slog.Handler
	attached *int
}

func (a attaching) WithAttrs(attrs []slog.Attr) slog.Handler {
	*a.attached += len(attrs)
	return attaching{a.Handler.WithAttrs(attrs), a.attached}
}

func TestFieldsOfWithAreAttachedOnce(t *testing.T) {
	attached := 0
	log := zap.New(slogcore.New(attaching{slog.NewJSONHandler(io.Discard, nil), &attached})).With(zap.Int("a", 1), zap.Int("b", 2))
	for range 3 {
		log.Info("message", zap.Int("c", 3))
	}
	require.Equal(t, 2, attached)
}

func TestTheBytesOfTheCallerAreCopied(t *testing.T) {
	var r recorder
	b := []byte("before")
	zap.New(slogcore.New(&r)).Info("message", zap.Binary("k", b))
	copy(b, "after!")
	require.Equal(t, []byte("before"), r.attrs(t)[0].Value.Any())
}

func TestAFailureOfTheHandlerGoesToTheErrorOutput(t *testing.T) {
	var failures bytes.Buffer
	log := zap.New(slogcore.New(failing{slog.DiscardHandler}), zap.ErrorOutput(zapcore.AddSync(&failures)))
	log.Info("message")
	require.Contains(t, failures.String(), errHalf.Error())
	require.NoError(t, log.Sync())
}

type failing struct{ slog.Handler }

func (failing) Enabled(context.Context, slog.Level) bool { return true }

func (failing) Handle(context.Context, slog.Record) error { return errHalf }

func TestALevelThatIsOffCostsNoAllocation(t *testing.T) {
	log := zap.New(slogcore.New(slog.NewJSONHandler(io.Discard, nil)), zap.AddCaller()).With(zap.Int("a", 1))
	require.Zero(t, testing.AllocsPerRun(100, func() {
		log.Debug("message")
		if entry := log.Check(zap.DebugLevel, "message"); entry != nil {
			entry.Write(zap.Int("b", 2))
		}
	}))
}

// A backwards handler writes to a core, so that slogtest can test the core.
type backwards struct{ core zapcore.Core }

func (b backwards) Enabled(_ context.Context, l slog.Level) bool {
	return b.core.Enabled(zapcore.Level(l / 4))
}

func (b backwards) Handle(_ context.Context, r slog.Record) error {
	var attrs []slog.Attr
	r.Attrs(func(a slog.Attr) bool {
		attrs = append(attrs, a)
		return true
	})
	return b.core.Write(zapcore.Entry{Level: zapcore.Level(r.Level / 4), Time: r.Time, Message: r.Message}, fields(attrs))
}

func (b backwards) WithAttrs(attrs []slog.Attr) slog.Handler {
	return backwards{b.core.With(fields(attrs))}
}

func (b backwards) WithGroup(name string) slog.Handler {
	return backwards{b.core.With([]zap.Field{zap.Namespace(name)})}
}

// fields are attributes as one field, without a key.
func fields(attrs []slog.Attr) []zap.Field { return []zap.Field{zap.Inline(group(attrs))} }

type group []slog.Attr

func (g group) MarshalLogObject(enc zapcore.ObjectEncoder) (err error) {
	for _, a := range g {
		switch {
		case a.Value.Kind() != slog.KindGroup:
			err = enc.AddReflected(a.Key, a.Value.Any())
		case a.Key == "":
			err = group(a.Value.Group()).MarshalLogObject(enc)
		default:
			err = enc.AddObject(a.Key, group(a.Value.Group()))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func TestACoreKeepsTheRulesOfHandlers(t *testing.T) {
	var out bytes.Buffer
	slogtest.Run(t, func(*testing.T) slog.Handler {
		out.Reset()
		return backwards{slogcore.New(slog.NewJSONHandler(&out, nil))}
	}, func(t *testing.T) (line map[string]any) {
		require.NoError(t, json.Unmarshal(out.Bytes(), &line), out.String())
		return line
	})
}
