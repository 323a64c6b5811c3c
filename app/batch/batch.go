package batch

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"blik/app/farm"
	"blik/app/preset"
	"blik/internal/message"
	"blik/processing"
	"blik/processing/network"
)

// Request describes a batch to run.
type Request struct {
	Files []string
	// Folder is the folder for results.
	Folder string
	// Detect skips the correction.
	Detect bool
	Params processing.Params
	// Overwrite permits replacing results that exist.
	Overwrite bool
	// Language is the language of reports and messages; Version is the version of the program.
	Language, Version string
	// Farm is the address of a farm, as farm.ReadJoin takes it; empty: this computer. Shared means that its workers see
	// the same folders under the same paths; otherwise the files are uploaded and the results downloaded.
	Farm   string
	Shared bool
	// Host starts the queue on this computer. Store is the folder of the queue; empty: the default one.
	Host  Host
	Store string
	// Worker changes the options of the worker on this computer; may be nil.
	Worker func(*farm.WorkerOptions)
}

// State is the progress of a batch.
type State struct {
	Files, Done, Failed int
	// Left is the remaining time in seconds, 0 if unknown.
	Left float64
	// Failures are the files that failed, with the reasons; Remark is what currently delays the batch.
	Failures []farm.Failure
	Remark   error
	// Results are the first outputs of the finished files, if they exist.
	Results []string
	// Ended means that the batch has ended; Err is nil if every file is done or named in Failures.
	Ended bool
	Err   error
}

// Run is a running batch.
type Run struct {
	request Request
	changed func(State)
	stop    context.CancelFunc
	ended   chan struct{}

	mu    sync.Mutex
	state State
	seen  int // index of the first result not yet listed
	// unsent are the files that could not be submitted.
	unsent []farm.Failure
}

// Start begins a batch. changed is called with each state from its own goroutine; Ended is set in the last one.
func Start(ctx context.Context, r Request, changed func(State)) *Run {
	ctx, stop := context.WithCancel(ctx)
	b := &Run{request: r, changed: changed, stop: stop, ended: make(chan struct{})}
	b.state.Files = len(r.Files)
	go func() {
		defer close(b.ended)
		defer stop()
		err := b.run(ctx)
		b.change(func(s *State) { s.Ended, s.Err, s.Remark = true, err, nil })
	}()
	return b
}

// Cancel cancels the unfinished files. Finished results stay.
func (b *Run) Cancel() { b.stop() }

// Wait returns when the batch has ended.
func (b *Run) Wait() State {
	<-b.ended
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.state
}

func (b *Run) change(do func(*State)) {
	b.mu.Lock()
	do(&b.state)
	state := b.state
	b.mu.Unlock()
	b.changed(state)
}

func (b *Run) remark(err error) { b.change(func(s *State) { s.Remark = err }) }

func (b *Run) run(ctx context.Context) error {
	r := b.request
	if err := os.MkdirAll(r.Folder, 0o777); err != nil {
		return message.Errorf("%s: the folder cannot be created (%w)", r.Folder, err)
	}
	if r.Farm != "" {
		return b.onFarm(ctx)
	}
	o := Worker(r.Version)
	o.Slots = Slots(nil, 0)
	var err error
	if o.Runner, err = Process(); err != nil {
		return err
	}
	if o.Roots, err = UserRoots(r.Folder); err != nil {
		return err
	}
	o.Notify = func(text message.Message) { b.remark(message.New(text, nil)) }
	if r.Worker != nil {
		r.Worker(&o)
	}
	q := Queue{Host: r.Host, Store: r.Store, Log: slog.New(slog.NewTextHandler(io.Discard, nil))}
	if q.Store == "" {
		q.Store = filepath.Join(Store(), "batch")
	}
	return q.Run(ctx, o, b.submit, b.follow)
}

// onFarm submits the files to a farm and uploads them unless the farm sees the same folders.
func (b *Run) onFarm(ctx context.Context) error {
	join, err := farm.ReadJoin(b.request.Farm)
	if err != nil {
		return err
	}
	client, err := farm.Dial(ctx, join, nil)
	if err != nil {
		return err
	}
	defer client.Close()
	batch, err := b.open(ctx, client)
	if err != nil {
		return err
	}
	if b.request.Shared {
		if _, err = client.Add(ctx, batch, b.jobs(ctx), b.remark); err == nil {
			err = b.follow(ctx, client, batch.ID)
		}
		return b.left(ctx, client, batch.ID, err)
	}
	submitted := make(chan struct{})
	collected := make(chan error, 1)
	fetch, stop := context.WithCancel(ctx)
	defer stop()
	o := farm.Collection{
		Folder: b.request.Folder, Overwrite: b.request.Overwrite, Input: Inputs(b.request.Files),
		Checker: Results{batch.Work}, Every: 500 * time.Millisecond, Notify: b.remark,
		Fetched: func(path string) { b.change(func(s *State) { s.Results = append(s.Results, path) }) },
	}
	go func() {
		_, err := client.Collect(fetch, batch.ID, o, submitted)
		collected <- err
	}()
	if _, err = client.Add(ctx, batch, b.jobs(ctx), b.remark); err == nil {
		close(submitted)
		err = b.follow(ctx, client, batch.ID)
	}
	if err != nil {
		stop()
	}
	err = errors.Join(b.left(ctx, client, batch.ID, err), <-collected)
	if err == nil {
		// A result may have been refused.
		err = b.conclude(ctx, client, batch.ID)
	}
	return err
}

// left cancels the rest of a batch after an error.
func (b *Run) left(ctx context.Context, client *farm.Client, id string, err error) error {
	if err == nil {
		return nil
	}
	// A cancelled batch does not need the rest.
	leave, done := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer done()
	if _, e := client.Control(leave, id, farm.Cancel); e != nil && ctx.Err() == nil {
		err = errors.Join(err, e)
	}
	return err
}

func (b *Run) submit(ctx context.Context, client *farm.Client) (farm.Batch, error) {
	batch, err := b.open(ctx, client)
	if err != nil {
		return batch, err
	}
	_, err = client.Add(ctx, batch, b.jobs(ctx), b.remark)
	return batch, err
}

// open opens the batch of the request. A cancelled batch continues.
func (b *Run) open(ctx context.Context, client *farm.Client) (farm.Batch, error) {
	r := b.request
	w := farm.Work{
		Command: "correct", Preset: json.RawMessage(preset.Encode(r.Params)), Limit: 1000, Language: r.Language,
		Overwrite: r.Overwrite, Upload: r.Farm != "" && !r.Shared,
	}
	if r.Detect {
		w.Command = "detect"
	}
	// The results belong to one folder of one machine.
	host, err := os.Hostname()
	if err != nil {
		host = ""
	}
	again := strings.Join([]string{"", host, r.Folder}, "\x00")
	batch, err := client.Open(ctx, farm.Batch{Work: w, Program: r.Version, Model: network.SHA256()}, again, b.remark)
	if err == nil && batch.State == farm.Cancelled {
		_, err = client.Control(ctx, batch.ID, farm.Resume)
	}
	return batch, err
}

// jobs returns an iterator over the files; files that cannot be submitted count as failed.
func (b *Run) jobs(ctx context.Context) func() (farm.Job, bool) {
	files := b.request.Files
	return func() (farm.Job, bool) {
		for len(files) > 0 {
			file := files[0]
			files = files[1:]
			var job farm.Job
			var err error
			if b.request.Farm != "" && !b.request.Shared {
				job, err = farm.NewUpload(ctx, file, "")
			} else {
				job, err = farm.Roots{}.NewJob(file, b.request.Folder)
			}
			if err == nil {
				return job, true
			}
			if ctx.Err() != nil {
				return farm.Job{}, false
			}
			b.unsent = append(b.unsent, farm.Failure{File: file, Reason: err.Error()})
			b.change(func(s *State) {
				s.Failed++
				s.Failures = append(s.Failures, farm.Failure{File: file, Reason: err.Error()})
			})
		}
		return farm.Job{}, false
	}
}

// follow watches the batch until it is finished.
func (b *Run) follow(ctx context.Context, client *farm.Client, id string) error {
	b.mu.Lock()
	own := len(b.state.Failures)
	b.mu.Unlock()
	_, err := client.Wait(ctx, id, 300*time.Millisecond, func(st farm.BatchStatus, all farm.Status) {
		results := b.written(ctx, client, id)
		b.change(func(s *State) {
			s.Done, s.Failed, s.Left, s.Remark = st.Done, st.Failed+own, st.Left, nil
			s.Results = append(s.Results[:len(s.Results):len(s.Results)], results...)
			if all.Cause != nil {
				s.Remark = all.Cause
			}
		})
	}, func(err error) {
		if err != nil {
			b.remark(err)
		}
	})
	if err != nil {
		return err
	}
	return b.conclude(ctx, client, id)
}

// written returns the paths of new results, which workers have written to the folder. Their names follow from the
// originals.
func (b *Run) written(ctx context.Context, client *farm.Client, id string) (paths []string) {
	if b.request.Farm != "" && !b.request.Shared {
		return nil
	}
	seen, err := client.Results(ctx, id, b.seen, func(r farm.Result) error {
		if r.End == farm.Done && len(r.Outputs) > 0 {
			paths = append(paths, filepath.Join(b.request.Folder, filepath.Base(r.Outputs[0].Name)))
		}
		return nil
	})
	if err == nil {
		b.seen = seen
	}
	return paths
}

// conclude takes over the failures of a finished batch.
func (b *Run) conclude(ctx context.Context, client *farm.Client, id string) error {
	st, err := client.Status(ctx, id, 1000)
	if err != nil {
		return err
	}
	for _, x := range st.Batches {
		b.change(func(s *State) {
			s.Done, s.Failed = x.Done, x.Failed+len(b.unsent)
			s.Failures = append(b.unsent[:len(b.unsent):len(b.unsent)], x.Failures...)
			for _, c := range x.Conflicts {
				s.Failures = append(s.Failures, farm.Failure{File: c.File, Worker: c.Other,
					Reason: message.Of("the workers %s and %s delivered different results; the first counts", c.Worker,
						c.Other).String()})
			}
		})
	}
	return nil
}
