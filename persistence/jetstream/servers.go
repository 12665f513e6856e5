package jetstream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
)

const serversPatience = 300 * time.Millisecond

// checkServers asks all servers of the system account how they sync.
func (c *Config) checkServers(ctx context.Context) error {
	if c.System == nil || c.Durability == DeferredSync {
		return nil
	}
	inbox := nats.NewInbox()
	answers, err := c.System.SubscribeSync(inbox)
	if err != nil {
		return err
	}
	defer func() { _ = answers.Unsubscribe() }()
	if err := c.System.PublishRequest("$SYS.REQ.SERVER.PING.JSZ", inbox, nil); err != nil {
		return err
	}
	seen := 0
	for {
		wait, cancel := context.WithTimeout(ctx, serversPatience)
		answer, err := answers.NextMsgWithContext(wait)
		cancel()
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil && seen == 0:
			return fmt.Errorf("Config.System got no answer from a server with JetStream; is it of the system account? %w", err)
		case err != nil:
			return nil // no more answers
		}
		uses, err := checkServer(answer.Data)
		if err != nil {
			return err
		}
		if uses {
			seen++
		}
	}
}

// checkServer judges the answer of one server, if it uses JetStream.
func checkServer(answer []byte) (uses bool, err error) {
	var info struct {
		Server struct {
			Name string `json:"name"`
		} `json:"server"`
		Data struct {
			Disabled bool `json:"disabled"`
			Config   struct {
				SyncAlways bool `json:"sync_always"`
			} `json:"config"`
		} `json:"data"`
	}
	if err := json.Unmarshal(answer, &info); err != nil {
		return false, err
	}
	if info.Data.Disabled {
		return false, nil
	}
	if !info.Data.Config.SyncAlways {
		return false, errors.New("server " + info.Server.Name + " has no sync_interval: always, which Config.Durability promises; set it, or choose DeferredSync")
	}
	return true, nil
}
