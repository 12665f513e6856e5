package delivery_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor/delivery"
)

func TestAMessageHasAKeyUnlessItIsDirect(t *testing.T) {
	require.Equal(t, "payments/12", delivery.Delivery[int]{Numbering: "payments", Number: 12}.Key())
	require.Empty(t, delivery.Delivery[int]{Message: 1}.Key())
}
