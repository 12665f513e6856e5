// Package phi is a phi-accrual failure detector: it turns the arrival times of
// heartbeats into a growing suspicion instead of a verdict.
//
// The idea is that of Hayashibara, Défago, Yared and Katayama, "The φ Accrual Failure
// Detector" (SRDS 2004): phi(t) = −log10(P(a heartbeat still comes after a silence of
// t)), with P from the intervals seen so far. A phi of 1 is wrong one time in ten, one
// of 8 one time in a hundred million, as far as the intervals are normally distributed.
//
// Three things go beyond the paper, all of them Akka's. The normal distribution is
// approximated by a logistic curve, P ≈ 1/(1+exp(y(1.5976+0.070566y²))) with y the
// distance from the mean in standard deviations; it overshoots the exact value in the
// tail (15.4 instead of 11.9 at seven deviations). An acceptable pause is added to the
// mean, and a floor is put under the deviation. The silence of an outage is not learnt:
// an interval counts only if the subject was still available when it ended.
//
// A [Detector] watches one subject for one observer. It reads no clock, starts no
// goroutine and is not safe for concurrent use; the caller passes the time of each
// event, so it works the same in simulations and in testing/synctest.
package phi
