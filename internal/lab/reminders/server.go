package reminders

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"go.uber.org/zap"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/cluster"
	"github.com/understudy-go/understudy/cluster/sharding"
	"github.com/understudy-go/understudy/internal/process"
)

// idle is how long an entity stays awake without a message. It is short, so that most timers find
// their entities asleep.
const idle = 500 * time.Millisecond

// serve is one of the three processes: a member of the cluster that hosts entities, and a server
// that brings requests to any entity, wherever that is.
func serve(ctx context.Context, s settings) error {
	journal, err := s.open(ctx, s.journal)
	if err != nil {
		return err
	}
	defer journal.Close()
	node, err := cluster.Start(ctx, cluster.Config{Name: "reminders", NodeID: s.node, Bind: s.bind, Seeds: s.seeds, Journal: journal, Logger: zap.NewNop()})
	if err != nil {
		return err
	}
	o := &office{node: s.node, journal: journal, post: newPost(s.recipient)}
	region, err := sharding.Start(node, "reminder", o.entity, sharding.PassivateAfter(idle), sharding.WithTimers(journal))
	if err != nil {
		return err
	}
	if err := s.pin(ctx, region); err != nil {
		return err
	}
	server := &http.Server{Addr: s.http, Handler: handler(region), ReadHeaderTimeout: time.Second}
	go func() {
		<-process.UntilEOF().Done()
		_ = server.Close() // the program that started this process has ended
	}()
	fmt.Println("open")
	if err := server.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return node.Shutdown(ctx)
}

// pin pins the shards of this node.
func (s settings) pin(ctx context.Context, region *sharding.Region[Msg]) error {
	ctx, cancel := context.WithTimeout(ctx, unanswered)
	defer cancel()
	return region.Pin(ctx, s.node, s.share()...)
}

// share returns the shards that this node takes: a third. Without it the first node that starts has
// all shards until they are balanced, which begins after half a minute.
func (s settings) share() (mine []int) {
	for shard := slices.Index(s.seeds, s.bind); shard < sharding.DefaultShards; shard += len(s.seeds) {
		mine = append(mine, shard)
	}
	return mine
}

// handler serves PUT and DELETE /{customer}/{key}, and GET /{customer}.
func handler(region *sharding.Region[Msg]) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("PUT /{customer}/{key}", func(w http.ResponseWriter, r *http.Request) {
		at, err := time.Parse(time.RFC3339Nano, r.URL.Query().Get("at"))
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		ask(w, r, region, func(to actor.ActorRef[bool]) Msg {
			return Remind{Key: r.PathValue("key"), At: at, Text: r.URL.Query().Get("text"), ReplyTo: to}
		})
	})
	mux.HandleFunc("DELETE /{customer}/{key}", func(w http.ResponseWriter, r *http.Request) {
		ask(w, r, region, func(to actor.ActorRef[bool]) Msg { return Cancel{Key: r.PathValue("key"), ReplyTo: to} })
	})
	mux.HandleFunc("GET /{customer}", func(w http.ResponseWriter, r *http.Request) {
		ask(w, r, region, func(to actor.ActorRef[[]string]) Msg { return List{ReplyTo: to} })
	})
	return mux
}

// patience is how long a request waits for its entity.
const patience = 2 * time.Second

// ask asks the entity of a request, and answers with the reply.
func ask[R any](w http.ResponseWriter, r *http.Request, region *sharding.Region[Msg], request func(actor.ActorRef[R]) Msg) {
	id := r.PathValue("customer")
	if err := sharding.ValidateID(id); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	reply, err := actor.AskTimeout(r.Context(), region.Ref(id), patience, request)
	if err != nil {
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(reply) // the customer may have gone
}
