package allot

import (
	"strconv"
	"strings"
)

// Label returns the label of a shard.
func Label(typ string, shard int) string { return typ + "/" + strconv.Itoa(shard) }

// ParseLabel returns the type and the number of a shard. It returns false if no shard has that
// label.
func ParseLabel(label string) (typ string, shard int, ok bool) {
	at := strings.LastIndexByte(label, '/')
	if at < 0 {
		return "", 0, false
	}
	shard, err := strconv.Atoi(label[at+1:])
	return label[:at], shard, err == nil && shard >= 0
}
