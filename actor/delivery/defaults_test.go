package delivery

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/godoc"
)

func TestDefaultsAreAsDocumented(t *testing.T) {
	plain, chunked := settingsOf(nil), settingsOf([]Option{ChunkAbove(1)})
	require.Empty(t, godoc.Check(".",
		godoc.Is("Window", "The default is 50.", 50, plain.window),
		godoc.Is("Buffer", "The default is 1000.", 1000, plain.buffer),
		godoc.Is("Buffer", "and 100 times as many for all of them", 100, bufferOfAll),
		godoc.Is("MaxRefused", "the default is 1000", 1000, defaultRefused),
		godoc.Is("ForgetAfter", "The default is 2 minutes", 2*time.Minute, plain.forgetAfter),
		godoc.Is("ForgetAfter", "for d, or for up to half as long again", 2, sweepsUntilIdle),
		godoc.Is("Attempts", "By default no message is given up", 0, plain.attempts),
		godoc.Is("ChunkAbove", "64 MiB by default", 64<<20, chunked.most()),
		godoc.Is("MaxBytes", "The default is 64 MiB with [ChunkAbove]", 64<<20, chunked.most()),
		godoc.Is("MaxBytes", "the default is what the transport carries in one message (see cluster.Traffic), less 6 KiB and the length of the producer's path", [2]int{0, 6 << 10}, [2]int{plain.most(), headroom}),
		godoc.Is("MaxBytes", "For a consumer it limits a message that comes in parts, by default to 64 MiB", 64<<20, plain.gathered()),
	))
}
