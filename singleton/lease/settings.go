package lease

import "time"

// Settings say how a lease is kept. The zero value of each field stands for its default.
type Settings struct {
	// TTL is how long the lease lasts without a renewal: the default is 15 s. When its
	// holder dies, others wait that long; and an outage of the store that is longer than
	// most of it stops what the lease protects.
	TTL time.Duration

	// Renewal is the time between two renewals; the default is a quarter of TTL.
	Renewal time.Duration

	// Retry is the time until a renewal that failed is tried again; the default is a
	// fifteenth of TTL, at most 1 s.
	Retry time.Duration

	// OperationTimeout bounds each request; the default is a third of TTL, at most 5 s.
	OperationTimeout time.Duration

	// Drift is by which share the clocks of two machines may differ in rate, the store's
	// included; the default is 0.05. The holder counts on TTL*(1-2*Drift) only.
	Drift float64
}
