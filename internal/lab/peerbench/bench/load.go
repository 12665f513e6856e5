package bench

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"time"
)

// load takes the place of a scenario in the argument of a process that computes beside a run.
const load = "load"

// computing is what it prints when it begins to.
const computing = "computing"

// loadTurn is how long that process computes, and how long it sleeps afterwards.
const loadTurn = 5 * time.Millisecond

// startLoad starts a process that takes half of the time of each processor, and returns when it
// does. The process ends when stop is called, and with this process.
func startLoad() (stop func()) {
	program, err := os.Executable()
	check(err)
	cmd := exec.Command(program, load+"//")
	cmd.Stderr = os.Stderr
	alive, err := cmd.StdinPipe()
	check(err)
	begun, err := cmd.StdoutPipe()
	check(err)
	check(cmd.Start())
	_, err = begun.Read(make([]byte, len(computing)))
	check(err)
	return func() {
		check(alive.Close())
		check(cmd.Wait())
	}
}

// beLoad computes and sleeps in turn, in a goroutine for each processor, until the standard input
// ends. A turn has a number of steps, which take loadTurn on a processor that does nothing else: a
// library that competes for the processor does not get less load.
func beLoad() error {
	work := worker(loadTurn)
	for range runtime.GOMAXPROCS(0) {
		go func() {
			for {
				work()
				time.Sleep(loadTurn)
			}
		}()
	}
	fmt.Print(computing)
	_, err := io.Copy(io.Discard, os.Stdin)
	return err
}
