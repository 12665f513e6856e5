package statuspage

import (
	"fmt"
	"net/http"
	"time"
)

const (
	// Changes such as those of singletons come without a new view.
	look = 500 * time.Millisecond
	// A silent stream is closed by proxies.
	beat = 15 * time.Second
	// One write to a client takes no longer.
	patience = 30 * time.Second
	// How long a browser waits before it connects again.
	reconnect = 2 * time.Second
)

// The events are the current snapshot, and then the newest one after each change. The stream ends
// with the request, when the server shuts down, or after the last snapshot of a node that has
// ended.
func (h *handler) events(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("X-Accel-Buffering", "no") // nginx would keep them back
	if r.Method == http.MethodHead {
		return
	}
	s := stream{w: w, control: http.NewResponseController(w), source: h.source}
	if s.write("retry: %d\n\n", reconnect.Milliseconds()) != nil {
		return
	}
	s.run(r, h.servers.of(r))
}

// A stream runs in the goroutine of the request, so a slow client misses snapshots and nothing
// queues up.
type stream struct {
	w       http.ResponseWriter
	control *http.ResponseController
	source  Source
	last    string // the last snapshot sent, without its time
}

func (s *stream) run(r *http.Request, closing <-chan struct{}) {
	looks, beats := time.NewTicker(look), time.NewTicker(beat)
	defer looks.Stop()
	defer beats.Stop()
	s.source.Refresh(r.Context())
	for {
		changed, err := s.send()
		if err != nil || changed == nil {
			return
		}
		select {
		case <-r.Context().Done():
			return
		case <-closing:
			return
		case <-changed:
		case <-looks.C:
			s.source.Refresh(r.Context())
		case <-beats.C:
			if s.write(": alive\n\n") != nil {
				return
			}
		}
	}
}

// send sends nothing that the client has already.
func (s *stream) send() (changed <-chan struct{}, err error) {
	snapshot, changed := snapshotOf(s.source)
	snapshot = snapshot.bounded()
	key, err := snapshot.key()
	if err != nil || key == s.last {
		return changed, err
	}
	data, err := snapshot.encode()
	if err != nil {
		return nil, err
	}
	s.last = key
	return changed, s.write("event: status\nid: %d\ndata: %s\n\n", snapshot.Version, data)
}

func (s *stream) write(format string, args ...any) error {
	_ = s.control.SetWriteDeadline(time.Now().Add(patience)) // not every writer supports it
	if _, err := fmt.Fprintf(s.w, format, args...); err != nil {
		return err
	}
	return s.control.Flush()
}
