package home

import (
	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/extension"
)

// maxPart is the approximate size in bytes of one message, if an answer takes several messages.
const maxPart = 512 << 10

// PartBytes returns about how many bytes such a message may have: 512 KiB, or half of the limit on
// messages between nodes if that is less.
func PartBytes(s *actor.System) int {
	if limit := extension.MaxMessage(s); limit > 0 {
		return min(maxPart, limit/2)
	}
	return maxPart
}
