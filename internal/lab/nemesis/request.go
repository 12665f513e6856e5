//go:build linux

package main

import (
	"encoding/json"
	"net"
	"path/filepath"
	"time"
)

// A Request is a request of the harness to a node, with exactly one field set. It and the [Reply]
// are sent over a Unix socket, as JSON.
type Request struct {
	Add     *Entry       `json:",omitempty"`
	Look    bool         `json:",omitempty"`
	Operate *Op          `json:",omitempty"`
	Visit   *Errand      `json:",omitempty"`
	Trip    *TripRequest `json:",omitempty"`
	Status  bool         `json:",omitempty"`
	Leave   bool         `json:",omitempty"`
}

// An Errand is a visit of a list.
type Errand struct {
	List     string
	Entry    Entry         // zero for a read
	Patience time.Duration // how long the node waits for the answer
}

// A Reply is what a node answers.
type Reply struct {
	Receipt *Receipt   `json:",omitempty"`
	Sum     *Sum       `json:",omitempty"`
	Answer  *Answer    `json:",omitempty"`
	Content *Content   `json:",omitempty"`
	Trip    *TripReply `json:",omitempty"`
	Status  *Status    `json:",omitempty"`
	Error   string     `json:",omitempty"`
}

// patience is how long a node waits for an answer of a singleton. Clients wait a little longer for
// the node.
const patience = time.Second

func socketPath(dir, node string) string { return filepath.Join(dir, node+".sock") }

// ask sends a request to a node. It fails when there is no answer in time.
func ask(dir, node string, r Request) (reply Reply, err error) {
	return askWithin(dir, node, r, patience)
}

// askWithin is ask for a request for which the node takes up to limit.
func askWithin(dir, node string, r Request, limit time.Duration) (reply Reply, err error) {
	conn, err := net.DialTimeout("unix", socketPath(dir, node), limit)
	if err != nil {
		return Reply{}, err
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(limit + 500*time.Millisecond)); err != nil {
		return Reply{}, err
	}
	if err := json.NewEncoder(conn).Encode(r); err != nil {
		return Reply{}, err
	}
	err = json.NewDecoder(conn).Decode(&reply)
	return reply, err
}
