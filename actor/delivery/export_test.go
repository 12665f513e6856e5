package delivery

import "github.com/understudy-go/understudy/internal/extension"

type Store = store

func StoreOf(q *Queue) Store { return q.stored }

func RefusedOf(r Refused, records []extension.Payload) Refused {
	r.records = records
	return r
}

func WithStore(s Store) Option { return func(set *settings) { set.queue = s } }
