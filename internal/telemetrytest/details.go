package telemetrytest

import (
	"encoding/json"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/status"
)

// Details returns what the status page serves of a system under /details, decoded from its JSON,
// and the problems.
func Details[T any](t require.TestingT, s *actor.System) (fields T, problems []status.Problem) {
	details, problems := status.Read(s)
	encoded, err := json.Marshal(details)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(encoded, &fields))
	return fields, problems
}
