package farm

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path"
	"runtime"
	"strings"
	"sync"
	"time"

	"blik/app/i18n"
	"blik/internal/atomicfile"
	"blik/internal/message"

	"github.com/nats-io/nats.go"
)

// Task is the work on one file on this machine.
type Task struct {
	Input   string `json:"input"`
	Folder  string `json:"folder"`
	Work    Work   `json:"work"`
	Device  string `json:"device"`
	Threads int    `json:"threads"`
	// Again means that the file was handed out before, so that a killed process may have left files in the folder.
	Again bool `json:"again,omitempty"`
}

// Runner processes files, several at a time. The error is a *Crash if the work ended without an outcome.
type Runner interface {
	Run(ctx context.Context, t Task) (Outcome, error)
}

// Crash is work that ended without an outcome.
type Crash struct {
	// The way it ended, and the last lines of its output.
	How, Log string
}

func (c *Crash) Error() string { return c.How }

// WorkerOptions configure a worker.
type WorkerOptions struct {
	Join     Join
	Embedded Inside // a server in this process, in place of Join; may be nil
	// Name is unique in the farm; empty: derived from the names of the machine and the process.
	Name           string
	Program, Model string
	Slots          []Slot
	Roots          Roots
	Runner         Runner
	// Memory estimates the memory needed for a file in bytes; nil if unknown. Budget limits the total; a file that
	// needs more is processed alone.
	Memory func(file string) int64
	Budget int64
	// Scratch is the folder for files from the object store while they are processed; empty: the system's temporary
	// folder.
	Scratch string
	Log     *slog.Logger
	// Only is the batch to work on; empty: all.
	Only string
	// Clock returns the time; nil: the clock of the machine.
	Clock func() time.Time
	// Notify is called with each message for the user of the machine; may be nil.
	Notify func(message.Message)
}

// Worker processes jobs.
type Worker struct {
	o       WorkerOptions
	link    *Link
	memory  *budget
	woken   chan struct{}
	scratch *scratchDir

	mu       sync.Mutex
	every    time.Duration
	doing    map[int]Activity
	remarks  map[int]string
	reported map[string]bool
	entered  map[string]bool // folders of results
	done     int
}

// The subjects of messages that may be shown again.
const (
	aboutFarm  = "farm\x00"
	aboutPause = "pause\x00"
)

// assignment is a job with the work on it and the ticket of its holder.
type assignment struct {
	Job
	work   Work
	ticket string
	// delivered counts how often the job was handed out.
	delivered int
	// drop ends the renewals of the ticket; the worker no longer works on the job.
	drop func()
}

// RunWorker takes jobs until ctx ends.
func RunWorker(ctx context.Context, o WorkerOptions) error {
	if o.Name == "" {
		host, err := os.Hostname()
		if err != nil {
			host = "worker"
		}
		o.Name = fmt.Sprintf("%s-%d", host, os.Getpid())
	}
	if o.Clock == nil {
		o.Clock = time.Now
	}
	l, err := Connect(ctx, o.Join, o.Embedded, true)
	if err != nil {
		return err
	}
	defer l.Close()
	w := &Worker{
		o: o, link: l, memory: newBudget(o.Budget), woken: make(chan struct{}, len(o.Slots)), doing: map[int]Activity{},
		remarks: map[int]string{}, reported: map[string]bool{}, entered: map[string]bool{}, every: HeartbeatInterval,
	}
	if w.scratch, err = openScratch(o.Scratch); err != nil {
		return err
	}
	defer w.scratch.close()
	if _, err := l.Subscribe(Wake, func(_ *nats.Msg) { w.wake() }); err != nil {
		return err
	}
	// A worker that is stopped in the middle of the question has nothing to say of the farm.
	if err := w.hello(ctx); err != nil && ctx.Err() == nil {
		if _, no := errors.AsType[*Refusal](err); no || l.denied.Load() != nil {
			return err
		}
		w.tell(aboutFarm, message.Of("%s", err))
	}
	o.Log.Info("worker", "name", o.Name, "farm", o.Join.URL, "slots", len(o.Slots))
	var all sync.WaitGroup
	all.Go(func() { w.greet(ctx) })
	for i := range o.Slots {
		all.Go(func() { w.slot(ctx, i) })
	}
	all.Wait()
	return ctx.Err()
}

// wake wakes all slots.
func (w *Worker) wake() {
	for range w.o.Slots {
		select {
		case w.woken <- struct{}{}:
		default:
		}
	}
}

// tell shows a message once, until it changes.
func (w *Worker) tell(about string, text message.Message) {
	w.mu.Lock()
	key := about + "\x00" + text.String()
	known := w.reported[key]
	w.reported[key] = true
	w.mu.Unlock()
	if known {
		return
	}
	w.o.Log.Warn(text.String())
	if w.o.Notify != nil {
		w.o.Notify(text)
	}
}

// greet sends a heartbeat every few seconds.
func (w *Worker) greet(ctx context.Context) {
	for {
		w.mu.Lock()
		every := w.every
		w.mu.Unlock()
		if sleep(ctx, every) != nil {
			return
		}
		if err := w.hello(ctx); err != nil && ctx.Err() == nil {
			w.o.Log.Debug("hello", "error", err)
		}
	}
}

// hello sends a heartbeat.
func (w *Worker) hello(ctx context.Context) error {
	w.mu.Lock()
	p := w.heartbeat()
	for i := range w.o.Slots {
		if d, ok := w.doing[i]; ok {
			p.Activities = append(p.Activities, d)
		}
		if r := w.remarks[i]; r != "" {
			p.Remark = r
		}
	}
	w.mu.Unlock()
	sent := w.o.Clock()
	a, err := w.link.Ask(ctx, WorkHello, Request{Worker: p})
	if err != nil {
		return err
	}
	if skew := a.Time.Sub(sent); skew.Abs() > MaxSkew+w.o.Clock().Sub(sent) {
		w.tell("clock", message.Of("the clock of this machine differs from that of the server by %.0f s; times in "+
			"reports are wrong, processing continues", skew.Abs().Seconds()))
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if a.Every > 0 {
		w.every = min(a.Every, HeartbeatInterval)
	}
	return nil
}

// heartbeat returns the current state of the worker; the caller holds mu.
func (w *Worker) heartbeat() *Heartbeat {
	return &Heartbeat{
		Name: w.o.Name, Program: w.o.Program, Model: w.o.Model, System: runtime.GOOS + "/" + runtime.GOARCH,
		Slots: w.o.Slots, Time: w.o.Clock(), Done: w.done,
	}
}

// slot processes one job after another.
func (w *Worker) slot(ctx context.Context, n int) {
	for ctx.Err() == nil {
		worked, err := w.processOne(ctx, n)
		if err != nil && ctx.Err() == nil {
			w.o.Log.Debug("take", "error", err)
		}
		if worked {
			continue
		}
		select {
		case <-ctx.Done():
		case <-w.woken:
		case <-time.After(500 * time.Millisecond):
		}
	}
}

// processOne processes one job, if there is any.
func (w *Worker) processOne(ctx context.Context, n int) (worked bool, err error) {
	w.mu.Lock()
	who := w.heartbeat()
	w.mu.Unlock()
	who.Slots = nil
	a, err := w.link.Ask(ctx, WorkTake, Request{Worker: who, Only: w.o.Only, Shared: len(w.o.Roots) > 0})
	if err != nil {
		return false, err
	}
	if a.Job == nil || a.Work == nil {
		if a.Remark != nil {
			w.tell("skipping", message.Of("%s", a.Remark))
		}
		return false, nil
	}
	w.do(ctx, n, assignment{Job: *a.Job, work: *a.Work, ticket: a.Ticket, delivered: a.Delivered}, a.Every)
	return true, nil
}

// giveBack returns a job to the queue, from which it is not taken for a while.
func (w *Worker) giveBack(ctx context.Context, job assignment, wait time.Duration) {
	job.drop() // a renewal would take it again
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
	defer cancel()
	if _, err := w.link.insist(ctx, WorkBack, Request{Ticket: job.ticket, Wait: wait}, nil); err != nil {
		w.o.Log.Debug("give back", "error", err)
	}
}

// do processes one job, which it renews until the end.
func (w *Worker) do(ctx context.Context, n int, job assignment, every time.Duration) {
	work, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	holding, drop := context.WithCancel(work)
	beating := make(chan struct{})
	job.drop = func() {
		drop()
		<-beating
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.doing, n)
	}
	defer job.drop()
	go func() {
		defer close(beating)
		tick := time.NewTicker(min(max(every, 10*time.Millisecond), HeartbeatInterval))
		defer tick.Stop()
		for {
			select {
			case <-holding.Done():
				return
			case <-tick.C:
			}
			a, err := w.link.Ask(holding, WorkRenew, Request{Ticket: job.ticket})
			switch {
			case err == nil && a.Verdict == Settled, refused(err):
				cancel(errSettled)
				return
			case err != nil:
				w.o.Log.Debug("renew", "error", err)
			}
		}
	}()
	w.mu.Lock()
	w.doing[n] = Activity{job.ID, path.Base(job.In.Path), time.Now()}
	w.mu.Unlock()
	w.run(work, n, job)
}

// mostDelivered is how often a job is handed out before a file fails that only other workers might process.
const mostDelivered = 5

// run has the runner process a job and delivers the result.
func (w *Worker) run(ctx context.Context, n int, job assignment) {
	start := time.Now()
	out, err := w.performSafely(ctx, n, job)
	crash, crashed := errors.AsType[*Crash](err)
	switch {
	case errors.Is(context.Cause(ctx), errSettled), errors.Is(err, errSettled):
		return
	case ctx.Err() != nil:
		w.giveBack(ctx, job, 0)
		return
	case crashed:
		text := crash.How
		if crash.Log != "" {
			text += "\n" + crash.Log
		}
		if _, err := w.link.insist(ctx, WorkCrash, Request{Ticket: job.ticket, Log: text}, w.waits); err != nil {
			w.giveBack(ctx, job, time.Second)
		}
		return
	case errors.Is(err, errUnmounted):
		w.pause(ctx, n, job, err, 5*time.Second)
		return
	case errors.Is(err, errStart) && job.delivered < mostDelivered:
		w.pause(ctx, n, job, err, time.Second)
		return
	case err != nil:
		out = Outcome{End: Failed, Sentence: i18n.For(job.work.Language).Error(err)}
	case out.End == Full:
		w.pause(ctx, n, job, message.Errorf("%s", out.Sentence), 5*time.Second)
		return
	case out.End == TooLarge && job.delivered < mostDelivered:
		w.pause(ctx, n, job, message.Errorf("left to a machine with more memory: %s", out.Sentence), 0)
		return
	case out.End == TooLarge:
		out.End = Failed
	}
	r := Report{out, time.Since(start).Seconds()}
	_, err = w.link.insist(ctx, WorkResult, Request{Ticket: job.ticket, Result: &r}, w.waits)
	if refused(err) && r.End == Done && job.delivered >= mostDelivered {
		// Another worker would have the same result.
		r.Outcome = Outcome{End: Failed, Sentence: i18n.For(job.work.Language).Error(err)}
		_, err = w.link.insist(ctx, WorkResult, Request{Ticket: job.ticket, Result: &r}, w.waits)
	}
	if err != nil {
		w.o.Log.Error("result", "file", job.In.String(), "error", err)
		w.giveBack(ctx, job, time.Second)
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.done++
	delete(w.remarks, n)
	for key := range w.reported {
		// The obstacle no longer exists.
		if strings.HasPrefix(key, aboutFarm) || strings.HasPrefix(key, aboutPause) {
			delete(w.reported, key)
		}
	}
}

// performSafely is perform, except that a defect counts as a crash on the file.
func (w *Worker) performSafely(ctx context.Context, n int, job assignment) (out Outcome, err error) {
	defer Survive(w.o.Log, "work", func(fault error) { err = &Crash{How: fault.Error()} })
	return w.perform(ctx, n, job)
}

// waits shows why work has stopped.
func (w *Worker) waits(err error) { w.tell(aboutFarm, message.Of("%s; waiting", err)) }

// pause gives a job back, shows why, and idles the slot for a while.
func (w *Worker) pause(ctx context.Context, n int, job assignment, why error, rest time.Duration) {
	text := message.Of("%s", why)
	w.tell(aboutPause, text)
	w.mu.Lock()
	w.remarks[n] = text.String()
	every := w.every
	w.mu.Unlock()
	w.giveBack(ctx, job, every) // others need not wait for this slot
	_ = sleep(ctx, rest)
}

// perform locates the files of a job and runs it.
func (w *Worker) perform(ctx context.Context, n int, job assignment) (Outcome, error) {
	if job.Upload != "" {
		return w.performUploaded(ctx, n, job)
	}
	input, err := w.o.Roots.Find(job.In, false)
	if err != nil {
		return Outcome{}, err
	}
	folder, err := w.o.Roots.Find(job.Out, true)
	if err != nil {
		return Outcome{}, err
	}
	again := job.delivered > 1 || w.enters(folder)
	return w.runOn(ctx, n, job, Task{Input: input, Folder: folder, Again: again})
}

// enters reports whether this is the first job in a folder, in which a killed worker may have left files.
func (w *Worker) enters(folder string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	known := w.entered[folder]
	w.entered[folder] = true
	return !known
}

// runOn reserves memory for a file and has the runner process it.
func (w *Worker) runOn(ctx context.Context, n int, job assignment, t Task) (Outcome, error) {
	if free := (atomicfile.Disk{}).Free(t.Folder); free >= 0 && free < job.Size {
		return full(job, t.Folder), nil
	}
	if w.o.Memory != nil {
		release, err := w.memory.reserve(ctx, w.o.Memory(t.Input))
		if err != nil {
			return Outcome{}, err
		}
		defer release()
	}
	slot := w.o.Slots[n]
	t.Work, t.Device, t.Threads = job.work, slot.Device, slot.Threads
	return w.o.Runner.Run(ctx, t)
}

// full is the outcome of work that failed because a disk is full.
func full(job assignment, folder string) Outcome {
	return Outcome{End: Full, Sentence: i18n.For(job.work.Language).Sprintf("%s: the disk is full", folder)}
}

// budget is memory shared among slots.
type budget struct {
	mu         sync.Mutex
	total, out int64
	freed      chan struct{}
}

func newBudget(total int64) *budget { return &budget{total: total, freed: make(chan struct{})} }

// reserve waits until n bytes are free, or until all memory is free if n exceeds the total.
func (b *budget) reserve(ctx context.Context, n int64) (release func(), err error) {
	for {
		b.mu.Lock()
		if b.total <= 0 || b.out == 0 || b.out+n <= b.total {
			b.out += n
			b.mu.Unlock()
			return func() {
				b.mu.Lock()
				defer b.mu.Unlock()
				b.out -= n
				close(b.freed)
				b.freed = make(chan struct{})
			}, nil
		}
		freed := b.freed
		b.mu.Unlock()
		select {
		case <-freed:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}
