// Command rest serves an actor over HTTP: a stock of goods, from which customers reserve.
package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/understudy-go/understudy/actor"
)

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := run(ctx); err != nil {
		log.Fatal(err)
	}
}

// run serves the stock, and is its first customer.
func run(ctx context.Context) error {
	system := actor.NewSystem("shop")
	stock := actor.Spawn(system, stock(map[string]int{"apples": 10}), "stock")

	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	server := &http.Server{Handler: routes(stock), ReadHeaderTimeout: 5 * time.Second}
	system.OnShutdown(actor.ServiceUnbind, "http", server.Shutdown) // before the actors stop
	go func() { _ = server.Serve(listener) }()

	url := "http://" + listener.Addr().String()
	for _, r := range []struct{ method, path, body string }{
		{"GET", "/stock/apples", ""},
		{"POST", "/stock/apples/reservations", `{"count": 7}`},
		{"POST", "/stock/apples/reservations", `{"count": 7}`},
		{"POST", "/stock/pears/reservations", `{"count": 1}`},
		{"POST", "/stock/apples/reservations", `{"count": "many"}`},
	} {
		if err := show(ctx, r.method, url, r.path, r.body); err != nil {
			return err
		}
	}
	return system.Shutdown(ctx)
}

// show makes a request, and prints it with its answer.
func show(ctx context.Context, method, url, path, body string) error {
	r, err := http.NewRequestWithContext(ctx, method, url+path, strings.NewReader(body))
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	fmt.Println(strings.TrimSpace(method+" "+path+" "+body), "->", response.StatusCode, strings.TrimSpace(string(answer)))
	return nil
}
