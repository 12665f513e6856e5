package transport

import "time"

type linkTiming struct {
	begun    time.Time // when the link began
	since    time.Time // the last sign that the peer receives
	failures int       // failed attempts and connections since then
	failing  time.Time // when the first of them failed
	opened   time.Time // when the last connection was opened
	finishBy time.Time // set by finish: the deadline
}

func (t *linkTiming) failed() {
	if t.failures == 0 {
		t.failing = time.Now()
	}
	t.failures++
}

// Something that happens may move it.
func (t *linkTiming) next(cfg *Config, empty bool) (due time.Time, why error) {
	due = t.deadline(cfg, empty)
	if empty {
		return due, errIdle
	}
	if renewal := t.renewal(cfg); renewal.Before(due) {
		return renewal, errStale
	}
	return due, errSilent
}

// Something that happens may move it.
func (t *linkTiming) deadline(cfg *Config, empty bool) time.Time {
	finishing := !t.finishBy.IsZero()
	if empty {
		if finishing {
			return time.Time{}
		}
		return t.since.Add(cfg.IdleAfter)
	}
	due := t.since.Add(cfg.UnreachableAfter)
	if finishing && t.finishBy.Before(due) {
		return t.finishBy
	}
	return due
}

// A connection may be lost silently, and there must be time for another one.
func (t *linkTiming) renewal(cfg *Config) time.Time {
	since := t.since
	if t.opened.After(since) {
		since = t.opened
	}
	return since.Add(cfg.UnreachableAfter / 2)
}

func (t *linkTiming) pause(cfg *Config, empty bool) time.Duration {
	if t.failures == 0 {
		return 0
	}
	return min(backoff(t.failures, cfg.MinBackoff, cfg.MaxBackoff), time.Until(t.deadline(cfg, empty)))
}
