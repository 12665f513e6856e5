package lease

import (
	"fmt"

	"github.com/understudy-go/understudy/internal/guard"
)

func clockNow(c Clock) (moment, error) {
	return guard.Value(func() moment { return momentOf(c) })
}

func (k *keeper) setAlarm(now moment) error {
	return guard.Do(func() {
		k.stopAlarm()
		if d := k.machine.wake(now); d != never {
			k.stopWake = k.clock.AfterFunc(d, func() { k.step(evWake{}) })
		}
	})
}

func (k *keeper) stopAlarm() {
	if stop := k.stopWake; stop != nil {
		k.stopWake = nil
		stop()
	}
}

// fail ends the handle because its clock has panicked: it can no longer tell when the lease ends.
// The clock is not asked again. What the store has noted expires.
func (k *keeper) fail(panicked error) {
	if k.broken != nil {
		return
	}
	k.broken = fmt.Errorf("lease %q: the clock of its settings: %w", k.machine.claim.Name, panicked)
	k.validity.Store(nil)
	if k.cancel != nil {
		k.cancel()
	}
	if k.machine.valid() {
		k.do(acLost{reason: k.broken})
	}
	k.decline()
}

func (k *keeper) decline() {
	for id := range k.acquires {
		k.do(acAcquired{id: id, err: k.broken})
	}
	for id := range k.releases {
		k.do(acReleased{id: id, err: k.broken})
	}
}

// doubt looks at the state of a lease that seems to be over: the timers of a machine that was
// suspended are late. With an error the clock has failed.
func (k *keeper) doubt(failed error) {
	if failed == nil {
		k.step(evWake{})
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.abandoned {
		k.fail(failed)
	}
}
