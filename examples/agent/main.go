// Command agent lets a language model use tools until it has an answer. The loop is a run of
// package workflow: each call of the model or of a tool is a step, a refund waits for a person, and
// a budget ends a run that goes astray. While the person thinks, the actor system ends, and another
// one goes on from the journal. The exit status is 0 only if no call was repeated.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"time"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/persistence"
	"github.com/understudy-go/understudy/persistence/journal"
	"github.com/understudy-go/understudy/persistence/workflow"
)

// Message is one line of a conversation.
type Message struct{ From, Text string }

// Reply is what the model says, and the tool that it wants to use, if any.
type Reply struct{ Text, Tool string }

const budget = 5 // calls of the model in a run
var errBudget = errors.New("the budget is used up")

func init() {
	actor.RegisterType[Message]("agent.message")
	actor.RegisterType[Reply]("agent.reply")
	actor.RegisterError("agent.budget", errBudget)
}

type agent struct {
	journal *journal.Memory
	model   string            // its URL
	tools   map[string]string // what they return
	asked   chan string       // by which a person gets questions
}

// answer is the function of a run. It returns the conversation.
func (a *agent) answer(w *workflow.Run, question string) ([]Message, error) {
	said, retry := []Message{{"user", question}}, workflow.Retry(5, actor.Backoff{Min: time.Second, Max: time.Minute})
	for pass := 1; pass <= budget; pass++ {
		reply, err := workflow.Step(w, fmt.Sprint("model-", pass), func(ctx context.Context) (Reply, error) { return a.ask(ctx, said) }, retry)
		if err != nil {
			return nil, err
		}
		said = append(said, Message{"model", reply.Text})
		if reply.Tool == "" {
			return said, nil
		}
		result, err := a.use(w, fmt.Sprint(reply.Tool, "-", pass), reply)
		if err != nil {
			return nil, err
		}
		said = append(said, Message{reply.Tool, result})
	}
	return nil, fmt.Errorf("%w: %d calls of the model", errBudget, budget)
}

// use uses a tool. A refund waits until a person has said yes or no.
func (a *agent) use(w *workflow.Run, name string, reply Reply) (string, error) {
	if reply.Tool == "refund" {
		if err := workflow.Do(w, "question-"+name, func(context.Context) error { a.asked <- reply.Text; return nil }); err != nil {
			return "", err
		}
		if yes, err := workflow.Await[bool](w, "approval-"+name, 7*24*time.Hour); err != nil || !yes {
			return "refused", err
		}
	}
	return workflow.Step(w, name, func(context.Context) (string, error) { return a.tools[reply.Tool], nil })
}

// ask calls the model. The key of the step lets it recognise a call that it has answered before.
func (a *agent) ask(ctx context.Context, said []Message) (reply Reply, err error) {
	body, err := json.Marshal(said)
	check(err)
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, a.model, bytes.NewReader(body))
	check(err)
	r.Header.Set("Idempotency-Key", workflow.Key(ctx))
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		return reply, err
	}
	defer response.Body.Close()
	return reply, json.NewDecoder(response.Body).Decode(&reply)
}

func (a *agent) start() (*actor.System, *workflow.Type[string, []Message]) {
	system := actor.NewSystem("support", persistence.WithJournal(a.journal))
	tickets, err := workflow.Start(system, "ticket", a.answer)
	check(err)
	return system, tickets
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

// script is what the fake model says to the first question.
var script = []Reply{{"I look up the order.", "orders"}, {"May I refund 30 EUR?", "refund"}, {"I have refunded 30 EUR.", ""}}

func main() {
	ctx := context.Background()
	var calls atomic.Int32
	model := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		calls.Add(1)
		var said []Message
		check(json.NewDecoder(r.Body).Decode(&said))
		reply := Reply{"I search on.", "search"}
		if said[0].Text == "My teapot is broken." {
			reply = script[len(said)/2]
		}
		check(json.NewEncoder(w).Encode(reply))
	}))
	defer model.Close()
	tools := map[string]string{"orders": "one teapot, 30 EUR", "refund": "done", "search": "nothing"}
	a := &agent{journal.NewMemory(), model.URL, tools, make(chan string)}
	system, tickets := a.start()
	_, err := tickets.Run(ctx, "1", "My teapot is broken.")
	check(err)
	fmt.Printf("a person is asked: %s\n", <-a.asked)
	check(system.Shutdown(ctx))
	fmt.Printf("the system has ended, after %d calls of the model; another begins\n", calls.Load())
	system, tickets = a.start()
	check(workflow.Signal(ctx, tickets, "1", "approval-refund-2", true))
	said, err := tickets.Handle("1").Result(ctx)
	check(err)
	for _, m := range said {
		fmt.Printf("%8s: %s\n", m.From, m.Text)
	}
	astray, err := tickets.Run(ctx, "2", "Which is the largest prime?")
	check(err)
	_, err = astray.Result(ctx)
	fmt.Println("ticket 2:", err)
	if n := calls.Load(); n != 3+budget || !errors.Is(err, errBudget) {
		log.Fatalf("%d calls of the model, want %d and the end of a budget", n, 3+budget)
	}
	check(system.Shutdown(ctx))
}
