package delivery

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/godoc"
)

func TestDefaultsAreAsDocumented(t *testing.T) {
	plain, chunked := settingsOf(nil), settingsOf([]Option{ChunkAbove(1)})
	require.Empty(t, godoc.Check(".",
		godoc.Is("Window", "the default is 50.", 50, plain.window),
		godoc.Is("Buffer", "the default is 1000.", 1000, plain.buffer),
		godoc.Is("GiveUpAfter", "By default none ever is", 0, plain.giveUpAfter),
		godoc.Is("ChunkAbove", "64 MiB by default", 64<<20, chunked.most()),
		godoc.Is("MaxBytes", "The default is 64 MiB with [ChunkAbove]", 64<<20, chunked.most()),
		godoc.Is("MaxBytes", "without it 6 KiB and the path of the producer less than the transport carries at once", [2]int{0, 6 << 10}, [2]int{plain.most(), headroom}),
		godoc.Is("MaxBytes", "For a consumer it is how many bytes it gathers of a message that comes in parts, 64 MiB by default", 64<<20, plain.gathered()),
	))
}
