package tracecontext

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
)

const example = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01" // of the specification

func TestTextAndBinaryAreTheSame(t *testing.T) {
	carried := Binary(example)
	require.Len(t, carried, Size)
	require.Equal(t, example, Text(carried))
	require.Equal(t, example, Text(append(carried, "more"...)), "what follows is not in the text")
	require.Equal(t, carried, Binary("01"+example[2:]+"-more"), "a later version may be longer")
}

func TestWhatIsMalformedHasNoOtherForm(t *testing.T) {
	require.Empty(t, Text(make([]byte, Size-1)))
	for _, text := range []string{
		"", example[1:], example[:54], example + "-", example + "x", "ff" + example[2:], "01" + example[2:] + "x",
		"00-0af7651916cd43dd8448eb211c80319g-b7ad6b7169203331-01", "00.0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
	} {
		require.Nil(t, Binary(text), text)
	}
}

func FuzzBinary(f *testing.F) {
	f.Add(example)
	f.Fuzz(func(t *testing.T, text string) {
		carried := Binary(text)
		if carried == nil {
			return
		}
		require.Len(t, carried, Size)
		require.True(t, bytes.Equal(carried, Binary(Text(carried))))
	})
}
