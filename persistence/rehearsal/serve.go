package rehearsal

import (
	"bufio"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"go.uber.org/zap"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/guard"
	"github.com/understudy-go/understudy/internal/inspect"
	"github.com/understudy-go/understudy/persistence"
)

// variable is the environment variable by which the command understudy starts a program that is to
// answer it: the version of the protocol, and the key of what is hashed.
const variable = "UNDERSTUDY_REHEARSAL"

// The command looks for this text in the file of a program before it starts it: a program without
// it would run as if nothing had been asked.
const knows = "rehearsal.Serve knows version 1 of the protocol"

// prefix begins each line of an answer. Other lines are from the program.
const prefix = "understudy-rehearsal "

// Serve answers the command understudy if that has started this process, and then ends the
// process. Otherwise it returns at once, so call it first in main. Parts says what can be tried: of
// several parts that have an id, the first counts.
//
// open opens the journal of the program, with its codecs, at a location: the file that the command
// has copied, or what was given to it as -journal if that is a URL. The journal must be a
// journal.EventReader, as all journals of this project are. Serve panics if open is nil or there
// are no parts.
func Serve(open func(ctx context.Context, location string) (persistence.Journal, error), parts ...Part) {
	if open == nil || len(parts) == 0 {
		panic("rehearsal: Serve needs a function that opens the journal, and parts; Of returns one")
	}
	text, ok := os.LookupEnv(variable)
	if !ok {
		return
	}
	out := os.Stdout
	os.Stdout = os.Stderr // what the program prints must not be among the answers
	code := 0
	if err := serve(text, open, parts, os.Stdin, out); err != nil {
		_, _ = fmt.Fprintln(os.Stderr, "rehearsal:", err)
		code = 1
	}
	os.Exit(code)
}

func serve(text string, open func(context.Context, string) (persistence.Journal, error), parts []Part, in io.Reader, out io.Writer) error {
	version, key, _ := strings.Cut(text, ":")
	secret, err := hex.DecodeString(key)
	if version != "1" || err != nil {
		return fmt.Errorf("%s, and was asked for version %q; use the command understudy of the same release", knows, version)
	}
	s := &server{
		system: actor.NewSystem("rehearsal", actor.WithLogger(zap.NewNop())), parts: parts, open: open,
		painter: inspect.Painter{Key: secret}, out: bufio.NewWriterSize(out, 1<<16),
	}
	defer s.close()
	requests := json.NewDecoder(bufio.NewReader(in))
	for {
		var r request
		switch err := requests.Decode(&r); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
		err := guard.Run(func() error { return s.answer(context.Background(), &r) })
		last := answer{Done: true}
		if err != nil {
			last.Error = guard.Text(err)
		}
		if err := errors.Join(s.send(last), s.out.Flush()); err != nil {
			return err
		}
	}
}

// A request is one of the command. The fields of the protocol only get more.
type request struct {
	Do      string   `json:"do"`      // hello, ids, read, reread or look
	Journal string   `json:"journal"` // hello: where it is
	IDs     []string `json:"ids"`     // read, reread
	Spool   string   `json:"spool"`   // read, reread: a file
	Query   string   `json:"query"`   // look: as on the status page
}

// An answer is one line. Done is the last one of a request.
type answer struct {
	Done   bool    `json:"done,omitempty"`
	Error  string  `json:"error,omitempty"`
	Hello  *hello  `json:"hello,omitempty"`
	ID     *stored `json:"id,omitempty"`
	Report *report `json:"report,omitempty"`
	Entity any     `json:"entity,omitempty"`
}

func (s *server) send(a answer) error {
	line, err := json.Marshal(a)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(s.out, "%s%s\n", prefix, line)
	return err
}
