// Package rehearse tries two builds of a program on copies of its journal. The builds answer
// requests by package persistence/rehearsal, which has the other side of this protocol.
package rehearse

import "encoding/json"

type request struct {
	Do      string   `json:"do"`
	Journal string   `json:"journal,omitempty"`
	IDs     []string `json:"ids,omitempty"`
	Spool   string   `json:"spool,omitempty"`
	Query   string   `json:"query,omitempty"`
}

type answer struct {
	Done   bool            `json:"done"`
	Error  string          `json:"error"`
	Hello  *hello          `json:"hello"`
	ID     *stored         `json:"id"`
	Report *report         `json:"report"`
	Entity json.RawMessage `json:"entity"`
}

type hello struct {
	Go     string           `json:"go"`
	Parts  []string         `json:"parts"`
	Codecs []string         `json:"codecs"`
	Errors []string         `json:"errors"` // nil of an older release
	Forms  map[string]*form `json:"forms"`

	Settings map[string]map[string]string `json:"settings"`
}

type form struct {
	Kind   string      `json:"kind"`
	Null   bool        `json:"null"`
	Of     string      `json:"of"`
	Codec  string      `json:"codec"`
	Elem   *form       `json:"elem"`
	Key    *form       `json:"key"`
	Fields []formField `json:"fields"`
}

type formField struct {
	Name string `json:"name"`
	Form *form  `json:"form"`
}

type stored struct {
	ID     string `json:"id"`
	Events uint64 `json:"events"`
}

// A report is what a build makes of what is stored under an id.
type report struct {
	ID        string          `json:"id"`
	Part      string          `json:"part"`
	Uses      string          `json:"uses"`
	Error     string          `json:"error"`
	Seq       uint64          `json:"seq"`
	Events    uint64          `json:"events"`
	Snapshots uint64          `json:"snapshots"`
	Faults    []fault         `json:"faults"`
	Tagged    []tagged        `json:"tagged"`
	State     json.RawMessage `json:"state"`
	Alone     json.RawMessage `json:"alone"`
	Recovers  bool            `json:"recovers"`
	Replays   bool            `json:"replays"`
	Wrote     uint64          `json:"wrote"`
	Saved     string          `json:"saved"`
	Changes   []change        `json:"changes"`
}

// nothing reports whether nothing was found under the id.
func (r *report) nothing() bool {
	return r.Seq == 0 && r.Events == 0 && r.Snapshots == 0 && r.Error == "" && len(r.Faults) == 0
}

type fault struct {
	Kind string `json:"kind"`
	Seq  uint64 `json:"seq"`
	Type string `json:"type"`
	Text string `json:"text"`
}

type tagged struct {
	Seq  uint64   `json:"seq"`
	Type string   `json:"type"`
	Was  []string `json:"was"`
	Now  []string `json:"now"`
}

type change struct {
	Seq    uint64          `json:"seq"`
	Type   string          `json:"type"`
	Before json.RawMessage `json:"before"`
	After  json.RawMessage `json:"after"`
}
