// Package phi is a phi-accrual failure detector: it turns the arrival times of heartbeats into
// a growing suspicion instead of a verdict.
//
// This package is experimental: a minor release may change it.
//
// It follows Hayashibara, Défago, Yared and Katayama, "The φ Accrual Failure Detector" (SRDS
// 2004): phi(t) = −log10(P(a heartbeat still comes after a silence of t)), with P from the
// intervals seen so far. If the intervals are normally distributed, a suspicion at a phi of 1
// is wrong one time in ten, and at a phi of 8 one time in a hundred million.
//
// The detector differs from the paper in three points, all taken from Akka:
//
//   - A logistic curve approximates the normal distribution: P ≈
//     1/(1+exp(y(1.5976+0.070566y²))), where y is the distance from the mean in standard
//     deviations. In the tail it exceeds the exact value: at seven deviations it gives 15.4
//     instead of 11.9.
//   - An acceptable pause is added to the mean, and the standard deviation has a minimum.
//   - The detector does not learn the silence of an outage: an interval counts only if the
//     subject was still available when the interval ended.
//
// A [Detector] watches one subject for one observer. It reads no clock, starts no goroutine and
// is not safe for concurrent use. The caller passes the time of each event, so the detector
// works the same in simulations and in testing/synctest.
package phi
