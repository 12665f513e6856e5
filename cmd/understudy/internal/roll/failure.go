package roll

import (
	"encoding/json"
	"slices"
	"strings"
)

// A failure is a line of a log that is an error or worse. The message is the same each time.
type failure struct{ message, detail string }

func (f failure) String() string {
	if f.detail == "" {
		return f.message
	}
	return f.message + ": " + f.detail
}

var worse = []string{"ERROR", "DPANIC", "PANIC", "FATAL"}

// failureIn knows the lines of zap and of slog, and the first line of a panic.
func failureIn(line string) (failure, bool) {
	switch {
	case strings.HasPrefix(line, "panic: "), strings.HasPrefix(line, "fatal error: "), strings.HasPrefix(line, "WARNING: DATA RACE"):
		return failure{message: shown(line)}, true
	case strings.HasPrefix(line, "{"):
		return inJSON(line)
	case strings.Contains(line, "\t"):
		return inColumns(strings.Split(line, "\t"))
	}
	return inText(line)
}

func inJSON(line string) (failure, bool) {
	var one map[string]any
	if json.Unmarshal([]byte(line), &one) != nil {
		return failure{}, false
	}
	level, _ := one["level"].(string)
	for _, key := range []string{"msg", "message"} {
		if text, ok := one[key].(string); ok && slices.Contains(worse, strings.ToUpper(level)) {
			return failure{shown(text), cause(one)}, true
		}
	}
	return failure{}, false
}

func cause(fields map[string]any) string {
	text, _ := fields["error"].(string)
	return shown(text)
}

// The columns of zap's console are time, level, name, caller, message and fields; name, caller and
// fields may be missing.
func inColumns(columns []string) (failure, bool) {
	i := slices.IndexFunc(columns, func(c string) bool { return slices.Contains(worse, strings.ToUpper(c)) })
	if i < 0 || i == len(columns)-1 {
		return failure{}, false
	}
	rest, fields := columns[i+1:], map[string]any{}
	if n := len(rest); n > 1 && json.Unmarshal([]byte(rest[n-1]), &fields) == nil {
		rest = rest[:n-1]
	}
	return failure{shown(rest[len(rest)-1]), cause(fields)}, true
}

// The text of slog is level=ERROR msg="the message" key=value …
func inText(line string) (failure, bool) {
	_, rest, ok := strings.Cut(line, "level=ERROR msg=")
	if !ok {
		return failure{}, false
	}
	end := " "
	if strings.HasPrefix(rest, `"`) {
		rest, end = rest[1:], `"`
	}
	message, fields, _ := strings.Cut(rest, end)
	return failure{shown(message), shown(strings.TrimSpace(fields))}, true
}
