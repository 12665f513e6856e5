package delivery

type Store = store

func StoreOf(q *Queue) Store { return q.stored }

func WithStore(s Store) Option { return func(set *settings) { set.queue = s } }
