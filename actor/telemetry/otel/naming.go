package otel

import "strings"

// OpenTelemetry wants a name without type and unit, and with dots after the namespaces. They are
// the first word after the prefix and the prefix itself.
func nameOf(family string) string {
	name := strings.TrimSuffix(family, "_total")
	for _, suffix := range []string{"_seconds", "_bytes"} {
		name = strings.TrimSuffix(name, suffix)
	}
	return strings.Replace(name, "_", ".", 2)
}

// The unit is s, By, or what the family counts, in braces; "" if it counts nothing.
func unitOf(family string) string {
	name := strings.TrimSuffix(family, "_total")
	switch {
	case strings.HasSuffix(name, "_seconds"):
		return "s"
	case strings.HasSuffix(name, "_bytes"):
		return "By"
	case strings.HasSuffix(name, "_letters"):
		return "{message}"
	}
	words := strings.Split(name, "_")
	for i := len(words) - 1; i > 0; i-- {
		if one, plural := singular(words[i]); plural {
			return "{" + one + "}"
		}
	}
	return ""
}

func singular(word string) (one string, plural bool) {
	if one, ok := strings.CutSuffix(word, "ies"); ok {
		return one + "y", true
	}
	one, plural = strings.CutSuffix(word, "s")
	return one, plural && !strings.HasSuffix(one, "s")
}
