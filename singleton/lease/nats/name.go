package nats

import (
	"cmp"

	"github.com/understudy-go/understudy/internal/naming"
)

func holderKey(name string) string { return "holder." + token(name) }

// tokenKey is the key that says up to which number the tokens of a name are used up.
func tokenKey(name string) string { return "token." + token(name) }

// token returns a name as one token of a subject. The empty name has one, too.
func token(name string) string { return cmp.Or(naming.Token(name), "=") }
