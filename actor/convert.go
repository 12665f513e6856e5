package actor

import "reflect"

// convert returns msg as an M. A nil is the zero M where M is an interface.
func convert[M any](msg any) (m M, ok bool) {
	if msg == nil {
		return m, reflect.TypeFor[M]().Kind() == reflect.Interface
	}
	m, ok = msg.(M)
	return m, ok
}
