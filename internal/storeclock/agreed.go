package storeclock

import (
	"context"
	"time"
)

// Agreed returns the time on which most members of a cluster agree, for what goes by the clocks of
// hosts. Package cluster provides it. It returns an error if most members have not told their time.
type Agreed func(context.Context) (time.Time, error)
