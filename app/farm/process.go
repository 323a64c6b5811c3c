package farm

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"

	"blik/internal/message"
)

// Process is a Runner that processes each file in a separate process, so that a crash does not kill the worker. The
// process reads a Task from its standard input, as JSON, and writes an Outcome to its standard output. It dies with the
// worker.
type Process struct {
	// Program and Arguments start the process; Environment is added to that of the worker.
	Program     string
	Arguments   []string
	Environment []string
}

// errStart is the cause of the error of work that could not begin: a fault of the machine, not of the file.
var errStart = errors.New("not started")

// maxTail bounds the output kept of a crashed process.
const maxTail = 2000

func (p Process) Run(ctx context.Context, t Task) (Outcome, error) {
	input, err := json.Marshal(t)
	if err != nil {
		return Outcome{}, err
	}
	// On Linux the child dies with the thread that started it.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	c := exec.CommandContext(ctx, p.Program, p.Arguments...)
	c.Env = append(os.Environ(), p.Environment...)
	if t.Threads > 0 {
		c.Env = append(c.Env, fmt.Sprintf("GOMAXPROCS=%d", t.Threads))
	}
	var out bytes.Buffer
	said := &tail{limit: maxTail}
	c.Stdin, c.Stdout, c.Stderr = bytes.NewReader(input), &out, said
	c.Cancel = func() error { return interrupt(c.Process) }
	c.WaitDelay = 10 * time.Second
	leash, err := begin(c)
	if err != nil {
		why := message.Of("%s: the program cannot be started (%v)", p.Program, message.Plain(err))
		return Outcome{}, message.New(why, errStart)
	}
	defer leash()
	err = c.Wait()
	if ctx.Err() != nil {
		return Outcome{}, ctx.Err()
	}
	var o Outcome
	if e := json.Unmarshal(out.Bytes(), &o); err != nil || e != nil || o.End == "" {
		return Outcome{}, &Crash{How: errors.Join(err, e).Error(), Log: said.String()}
	}
	return o, nil
}

// tail is a writer that keeps the end of its input.
type tail struct {
	limit int
	data  []byte
}

func (t *tail) Write(p []byte) (int, error) {
	t.data = append(t.data, p...)
	if len(t.data) > 2*t.limit {
		t.data = append(t.data[:0], t.data[len(t.data)-t.limit:]...)
	}
	return len(p), nil
}

func (t *tail) String() string {
	text := t.data[max(0, len(t.data)-t.limit):]
	return strings.TrimSpace(strings.ToValidUTF8(string(text), "?"))
}
