package main

import (
	"slices"
	"strings"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/cluster/placement"
)

// Storage is a request to a storage agent: ListDir or ReadFile.
//
//sumtype:decl
type Storage interface{ storage() }

type (
	// ListDir asks for the contents of a directory, which are empty if it does not exist.
	ListDir struct {
		Path    string
		ReplyTo actor.ActorRef[[]string]
	}
	// ReadFile asks for a file. The reply is empty if it does not exist.
	ReadFile struct {
		Dir, Name string
		ReplyTo   actor.ActorRef[string]
	}
)

func (ListDir) storage()  {}
func (ReadFile) storage() {}

func init() {
	actor.RegisterType[ListDir]("orchestrator.list-dir")
	actor.RegisterType[ReadFile]("orchestrator.read-file")
}

// A Volume is the initial state of a storage agent: the contents of its directories.
type Volume struct {
	Root string
	Dirs map[string][]string
}

// storageAgent is the type of actor that the coordinator places; every node has newStorage for it.
var storageAgent = placement.NewType[Volume, Storage]("storage-agent")

func newStorage(v Volume) actor.Behavior[Storage] {
	return behaviors.Receive(func(_ *actor.Context[Storage], msg Storage) actor.Behavior[Storage] {
		switch msg := msg.(type) {
		case ListDir:
			msg.ReplyTo.Tell(v.Dirs[msg.Path])
		case ReadFile:
			msg.ReplyTo.Tell(v.read(msg.Dir, msg.Name))
		}
		return behaviors.Same
	})
}

func (v Volume) read(dir, name string) string {
	if !slices.Contains(v.Dirs[dir], name) {
		return ""
	}
	return strings.Join([]string{v.Root, strings.Trim(dir, "/"), name}, "/")
}

var (
	photos = Volume{Root: "/mnt/photos", Dirs: map[string][]string{
		"/": {"vacation", "family"}, "/vacation": {"beach.jpg"}, "/family": {"birthday.jpg"},
	}}
	docs = Volume{Root: "/mnt/docs", Dirs: map[string][]string{
		"/": {"reports"}, "/reports": {"q1.pdf", "q2.pdf"},
	}}
)
