package actor_test

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/testkit"
)

// sourceOf returns the function in the only line of out.
func sourceOf(t *testing.T, out *bytes.Buffer) (function string) {
	t.Helper()
	var line struct {
		Source slog.Source
	}
	require.NoError(t, json.Unmarshal(out.Bytes(), &line), out.String())
	require.NotZero(t, line.Source.Line)
	require.Contains(t, line.Source.File, "sloglogger_test.go")
	return line.Source.Function
}

func helper(log *zap.Logger) { log.WithOptions(zap.AddCallerSkip(1)).Info("on behalf of the caller") }

func TestAHandlerOfSlogGetsTheCaller(t *testing.T) {
	for name, line := range map[string]func(*zap.Logger){
		"a logger":    func(log *zap.Logger) { log.Info("line") },
		"with fields": func(log *zap.Logger) { log.With(zap.Int("n", 1)).Info("line") },
		"sugar":       func(log *zap.Logger) { log.Sugar().Infow("line", "n", 1) },
		"a skip":      helper,
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			log := actor.SlogLogger(slog.NewJSONHandler(&out, &slog.HandlerOptions{AddSource: true}))
			func() { line(log) }()
			function := sourceOf(t, &out)
			require.Contains(t, function, "TestAHandlerOfSlogGetsTheCaller")
		})
	}
}

func TestAHandlerOfSlogGetsTheStackOfAPanic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		handler := slog.NewJSONHandler(&out, nil)
		s := testkit.NewSystem(t, testkit.WithoutEncoding(), actor.WithLogger(actor.SlogLogger(handler)))
		actor.Spawn(s, obedient(), "bomb").Tell(explode)
		settle()
		require.Contains(t, out.String(), `"actor":"/user/bomb"`)
		require.Regexp(t, `"stacktrace":"[^"]*actor_test\.explode`, out.String())
	})
}

func TestASlogLoggerNeedsAHandler(t *testing.T) {
	require.PanicsWithValue(t, "actor: SlogLogger: the handler must not be nil", func() { actor.SlogLogger(nil) })
}
