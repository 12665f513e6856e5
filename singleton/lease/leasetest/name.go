package leasetest

import (
	"strings"

	"github.com/understudy-go/understudy/singleton/lease"
)

var nameLaws = []law{
	{name: "NamesAreIndependentHoweverAwkward", check: func(e *env) {
		a, b := e.open(), e.open()
		own := e.name("")
		var grants []lease.Grant
		for _, name := range awkward {
			grants = append(grants, e.take(a, e.lasting(fill(name, own), "a")))
		}
		for i, g := range grants {
			e.refused(b, e.lasting(g.Name, "b"))
			grants[i] = e.renew(a, g)
		}
		for i, g := range grants {
			e.release(a, g)
			e.release(b, e.take(b, e.lasting(g.Name, "b")))
			if i+1 < len(grants) {
				grants[i+1] = e.renew(a, grants[i+1])
			}
		}
	}},
	{name: "AwkwardOwnersAreToldApart", check: func(e *env) {
		s, name := e.open(), e.name("x")
		owners := []string{"a b", "ä/ö", "UPPER", "upper", "%2F", "a'b\"c", strings.Repeat("o", 150)}
		for i, owner := range owners {
			g := e.take(s, e.lasting(name, owner))
			for j, other := range owners {
				if i != j {
					e.refused(s, e.lasting(name, other))
				}
			}
			e.release(s, e.renew(s, g))
		}
	}},
}

// awkward are names that differ; * stands for what makes them the law's own, and ~ fills
// up to 200 bytes.
var awkward = []string{
	"*", "*a", "a*", "* ", " *", "*/", "/*", "*/a", "*//a", "*.a", "*-a", "*_a", "*A", "*%2Fa", "*%a", "*:a", "*@a",
	"*ä", "*a\u0308", "*ü", "*日本語", "*🎭", "*'\"`;--", "*\\a", "*$1", "*{}", "*[a]", "*>", "*+", "*?", "*#", "*&=",
	"*\ta", "*\na", "..*", "./*", "*~", "*~é", "*~x", "é*~",
}

func fill(pattern, own string) string {
	name := strings.Replace(pattern, "*", own, 1)
	return strings.Replace(name, "~", strings.Repeat("l", max(0, 201-len(name))), 1)
}
