// Package tracecontext has the two forms of the context of a trace: binary beside a message, and as
// the text "traceparent" of W3C Trace Context beside an event.
package tracecontext

import (
	"encoding/hex"
	"fmt"
)

// Key is the key of the text among the metadata of a stored event.
const Key = "traceparent"

// Size is how many bytes the binary form has at least: the IDs of trace and span, and the flags.
// What follows belongs to the tracer.
const Size = 16 + 8 + 1

// Text returns the text of a binary form, or "" if that is too short.
func Text(carried []byte) string {
	if len(carried) < Size {
		return ""
	}
	return fmt.Sprintf("00-%x-%x-%x", carried[:16], carried[16:24], carried[24:25])
}

// textSize is the length in version 00; texts of later versions are at least as long.
const textSize = len("00-") + 32 + len("-") + 16 + len("-") + 2

// Binary returns the binary form of a text, or nil if the text is malformed. It reads the part of a
// text of a later version that version 00 has.
func Binary(text string) []byte {
	if len(text) < textSize || text[2] != '-' || text[35] != '-' || text[52] != '-' || text[:2] == "ff" {
		return nil
	}
	if len(text) > textSize && (text[:2] == "00" || text[textSize] != '-') {
		return nil
	}
	carried, err := hex.DecodeString(text[:2] + text[3:35] + text[36:52] + text[53:55])
	if err != nil {
		return nil
	}
	return carried[1:] // without the version
}
