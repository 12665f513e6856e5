package topic_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor/topic"
)

func TestATopicHasANameThatOtherNodesCanCarry(t *testing.T) {
	for name, complaint := range map[string]string{
		"":                       `topic: the name "" of a topic is empty`,
		"a\xff":                  `topic: the name "a\xff" of a topic is not UTF-8`,
		"a\x7f":                  `topic: the name "a\x7f" of a topic has the control character U+007F`,
		strings.Repeat("x", 256): `topic: the name "` + strings.Repeat("x", 256) + `" of a topic has 256 bytes, the limit is 255`,
	} {
		require.PanicsWithValue(t, complaint, func() { topic.New[int](name) })
	}
	require.Len(t, topic.New[int](strings.Repeat("x", 255)).Name(), 255)
}
