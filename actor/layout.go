//go:build (amd64 || arm64) && !race && !understudy_debug

package actor

import "unsafe"

// A tell is a quarter slower when what each message changes is not on one cache line. That is the
// mutex of a core, the flags and counts behind it, and the begin of the queue, which follows the
// core in a box. The package does not compile otherwise.
var (
	_ [24]struct{} = [unsafe.Sizeof(guarded{}) - unsafe.Offsetof(guarded{}.mu)]struct{}{}
	_              = [cacheLine - 24 - queueHead - mutexAt%cacheLine]struct{}{}
	_ [0]struct{}  = [unsafe.Offsetof(box[int]{}.cell) + unsafe.Sizeof(cell{}) - unsafe.Offsetof(box[int]{}.queue)]struct{}{}
	_              = [320 - unsafe.Sizeof(box[int]{})]struct{}{}
)

const (
	cacheLine = 64
	mutexAt   = unsafe.Offsetof(box[int]{}.cell) + unsafe.Offsetof(cell{}.core) + unsafe.Offsetof(core{}.mu)
	queueHead = unsafe.Offsetof(queue[int]{}.first)
)
