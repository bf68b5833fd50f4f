package crash

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"millrace/exec/task"
)

// program is the command under test, built once.
var program string

func TestMain(m *testing.M) {
	os.Exit(buildAndRun(m))
}

func buildAndRun(m *testing.M) int {
	folder, err := os.MkdirTemp("", "millrace-crash")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(folder) //nolint:errcheck // a temporary folder
	program = filepath.Join(folder, "millrace")
	build := exec.Command("go", "build", "-o", program, "millrace/cmd/millrace")
	if output, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "build: %v\n%s", err, output)
		return 1
	}
	return m.Run()
}

// run is one process under way.
type run struct {
	command *exec.Cmd
	shown   bytes.Buffer // standard output
	output  bytes.Buffer // standard error
	ended   chan error
}

func (w *world) start(environment ...string) *run {
	w.t.Helper()
	r := &run{command: exec.Command(program, w.arguments...), ended: make(chan error, 1)}
	r.command.Env = append(os.Environ(), environment...)
	r.command.Stdout, r.command.Stderr = &r.shown, &r.output
	if err := r.command.Start(); err != nil {
		w.t.Fatal(err)
	}
	go func() { r.ended <- r.command.Wait() }()
	return r
}

// killed tells whether the process ended by SIGKILL.
func killed(err error) bool {
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		return false
	}
	status, ok := exit.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && status.Signal() == syscall.SIGKILL
}

// firstLife is about how long a process lives that is not killed.
const firstLife = 1500 * time.Millisecond

// killSometime kills the process at a random moment, a late one rather than an
// early one, since it works at last, and tells whether the kill met it. That it
// had ended by itself before is as good, and happens to some: any other end than
// success or the kill is not.
func (w *world) killSometime(random *rand.Rand) (met bool) {
	w.t.Helper()
	r := w.start()
	select {
	case err := <-r.ended:
		if err != nil {
			w.t.Fatalf("%v\n%s", err, r.output.String())
		}
		w.life = w.life * 4 / 5
		return false
	case <-time.After(time.Duration(float64(w.life) * math.Sqrt(random.Float64()))):
	}
	if err := r.command.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		w.t.Fatal(err)
	}
	err := <-r.ended
	if err != nil && !killed(err) {
		w.t.Fatalf("%v\n%s", err, r.output.String())
	}
	w.life = w.life * 11 / 10
	return err != nil
}

// killAt lets the process kill itself when a commit passes a crash point for
// the count-th time. A run with fewer commits ends by itself.
func (w *world) killAt(point task.CrashPoint, count int) {
	w.t.Helper()
	r := w.start(fmt.Sprintf("MILLRACE_CRASH_POINT=%s:%d", point, count))
	err := <-r.ended
	if err != nil && !killed(err) || err == nil && count == 1 {
		w.t.Fatalf("%s:%d: %v\n%s", point, count, err, r.output.String())
	}
}

// finish runs to the end of the input and keeps what was shown.
func (w *world) finish() {
	w.t.Helper()
	w.grow()
	r := w.start()
	if err := <-r.ended; err != nil {
		w.t.Fatalf("%v\n%s", err, r.output.String())
	}
	w.shown = r.shown.String()
}
