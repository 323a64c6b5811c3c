package batch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"blik/app/farm"
	"blik/app/imagefile"
	"blik/app/work"
	"blik/internal/atomicfile"
	"blik/internal/message"
	"blik/processing/network"
)

// File is a file of a batch.
type File struct {
	Path string
	// Folder is the folder for its results, below that of the batch.
	Folder string
	// Err is the reason why the file cannot be processed; usually nil.
	Err error
}

// Request describes a batch to run.
type Request struct {
	work.Work
	Files []File
	// Folder is the folder for results.
	Folder string
	// Language is the language of reports and messages; Version is the version of the program.
	Language, Version string
	// Own means that the batch belongs to this folder alone: requests with the same work and another folder are not
	// part of it, Cancel cancels it on the farm, and the same request resumes it. State.Results is set for such batches
	// only.
	Own bool
	// Again distinguishes the batch from others with the same work, so that finished files are processed again.
	Again string
	// AnyName permits names that cannot exist on Windows; files with such names are never uploaded.
	AnyName bool
	// Roots are the folders of this machine that jobs refer to by name.
	Roots farm.Roots
	// Farm is the address of a farm, as farm.ReadJoin takes it; empty: this computer. Credentials is a file for the
	// cluster of an institution. Shared means that workers see the same folders under the same paths or names;
	// otherwise the files are uploaded and the results downloaded.
	Farm, Credentials string
	Shared            bool
	// NoWait ends the run once the files are submitted to a farm with shared folders.
	NoWait bool
	// Host starts the queue on this computer. Store is the folder of the queue; empty: the default one.
	Host  Host
	Store string
	// Log is the log of the queue on this computer; may be nil.
	Log *slog.Logger
	// Worker changes the options of the worker on this computer; may be nil.
	Worker func(*farm.WorkerOptions)
	// Notify is called once with each fault that delays the batch or concerns one of its files; may be nil.
	Notify func(error)
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
	// Submitted is the result of submitting the files; nil before that. Unsent counts those that could not be
	// submitted.
	Submitted *farm.Submission
	Unsent    int
	// Batch is the last known status of the batch. Collected counts the results that were downloaded.
	Batch     farm.BatchStatus
	Collected farm.Collected
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
	// before is the index of the first result that was not there when the files were submitted.
	before int
	// sent holds the folders of the results by the IDs of the jobs; unsent are the files that could not be submitted.
	sent   map[string]string
	unsent []farm.Failure
}

// Start begins a batch. changed is called with each state from another goroutine, one state at a time; Ended is set in
// the last one.
func Start(ctx context.Context, r Request, changed func(State)) *Run {
	ctx, stop := context.WithCancel(ctx)
	b := &Run{request: r, changed: changed, stop: stop, ended: make(chan struct{}), sent: map[string]string{}}
	b.request.Files = r.originals()
	b.state.Files = len(b.request.Files)
	go func() {
		defer close(b.ended)
		defer stop()
		err := b.run(ctx)
		b.change(func(s *State) { s.Ended, s.Err, s.Remark = true, err, nil })
	}()
	return b
}

// originals returns the files without those that lie where the results of others are written and have the names of
// such: those of an earlier run, if the results are written beside the originals.
func (r *Request) originals() []File {
	place := func(folder, name string) string {
		full, err := filepath.Abs(filepath.Join(folder, name))
		if err != nil {
			return filepath.Join(folder, name)
		}
		return full
	}
	results := map[string]string{}
	for _, f := range r.Files {
		for _, tail := range []string{"_corrected", "_mask", "_marked", "_preview"} {
			results[place(filepath.Join(r.Folder, f.Folder), work.Stem(f.Path)+tail)] = f.Path
		}
	}
	return slices.DeleteFunc(slices.Clone(r.Files), func(f File) bool {
		of, found := results[place(filepath.Dir(f.Path), work.Stem(f.Path))]
		if found && r.Notify != nil {
			r.Notify(message.Errorf("%s: left out, because it has the place and name of a result of %s", f.Path, of))
		}
		return found
	})
}

// Cancel ends the run. Finished results stay.
func (b *Run) Cancel() { b.stop() }

// Wait returns when the batch has ended.
func (b *Run) Wait() State {
	<-b.ended
	return b.last()
}

func (b *Run) change(do func(*State)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	do(&b.state)
	b.changed(b.state)
}

func (b *Run) remark(err error) {
	if b.request.Notify != nil {
		b.request.Notify(err)
	}
	b.change(func(s *State) { s.Remark = err })
}

// uploads reports whether the files are uploaded.
func (b *Run) uploads() bool { return b.request.Farm != "" && !b.request.Shared }

// alone reports whether the batch is only for the folder of the request.
func (b *Run) alone() bool { return b.request.Own || b.uploads() }

func (b *Run) run(ctx context.Context) error {
	if b.request.Farm != "" {
		return b.onFarm(ctx)
	}
	return b.here(ctx)
}

// here runs queue, worker and submission in this process, without opening a port.
func (b *Run) here(ctx context.Context) error {
	r := &b.request
	_, err := work.EnterFolder(r.Folder)
	if err != nil {
		return err
	}
	o := Worker(r.Version)
	o.Slots = Slots(nil, 0)
	if o.Runner, err = Process(); err != nil {
		return err
	}
	paths := []string{r.Folder}
	for _, f := range r.Files {
		paths = append(paths, f.Path)
	}
	if o.Roots, err = userRoots(paths, r.Roots); err != nil {
		return err
	}
	o.Notify = func(text message.Message) { b.remark(message.New(text, nil)) }
	if r.Worker != nil {
		r.Worker(&o)
	}
	if o.Log = r.Log; o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	queue, end, err := r.Host(ctx, cmp.Or(r.Store, filepath.Join(Store(), "batch")), o.Log)
	if err != nil {
		return err
	}
	defer end()
	client, err := farm.Dial(ctx, farm.Join{}, queue)
	if err != nil {
		return err
	}
	defer client.Close()
	batch, err := b.open(ctx, client)
	if err == nil {
		err = retry(ctx, client, batch.ID)
	}
	if err == nil {
		err = b.add(ctx, client, batch)
	}
	if err != nil {
		return err
	}
	o.Embedded, o.Only = queue, batch.ID
	doing, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() {
		defer stop() // without a worker the batch would never finish
		ended <- farm.RunWorker(doing, o)
	}()
	err = b.follow(doing, client, batch.ID)
	stop()
	// Once the batch is finished, the worker may be in the middle of a question to the queue.
	if e := <-ended; e != nil && err != nil && !errors.Is(e, context.Canceled) {
		return e
	}
	return err
}

// onFarm submits the files to a farm and uploads them unless the farm sees the same folders.
func (b *Run) onFarm(ctx context.Context) error {
	join, err := farm.ReadJoin(b.request.Farm)
	if err != nil {
		return err
	}
	join.Credentials = b.request.Credentials
	client, err := farm.Dial(ctx, join, nil)
	if err != nil {
		return err
	}
	defer client.Close()
	if _, err := work.EnterFolder(b.request.Folder); err != nil {
		return err
	}
	if !b.uploads() {
		batch, err := b.open(ctx, client)
		if err == nil {
			err = b.add(ctx, client, batch)
		}
		if err == nil && !b.request.NoWait {
			err = b.follow(ctx, client, batch.ID)
		}
		return b.left(ctx, client, batch.ID, err)
	}
	return b.sendAndFetch(ctx, client)
}

// sendAndFetch uploads the files and downloads the results at the same time, because the store of the server may be
// smaller than the batch.
func (b *Run) sendAndFetch(ctx context.Context, client *farm.Client) error {
	batch, err := b.open(ctx, client)
	if err != nil {
		return err
	}
	var inputs []string
	for _, f := range b.request.Files {
		inputs = append(inputs, f.Path)
	}
	submitted, collected := make(chan struct{}), make(chan error, 1)
	fetch, stop := context.WithCancel(ctx)
	defer stop()
	o := farm.Collection{
		Folder: b.request.Folder, Overwrite: b.request.Overwrite, Input: Inputs(inputs), Checker: Results{batch},
		Every: 500 * time.Millisecond, Notify: b.remark,
		Like: func(to atomicfile.File, original string, first bool) {
			imagefile.KeepAccess(to, original, first && !b.request.Detect)
		},
		Fetched: func(path, original string) {
			if info, err := os.Stat(original); err == nil && b.request.KeepTime && !b.request.Detect {
				imagefile.KeepTime(path, info.ModTime())
			}
			if b.request.Own {
				b.change(func(s *State) { s.Results = append(s.Results, path) })
			}
		},
	}
	go func() {
		got, err := client.Collect(fetch, batch.ID, o, submitted)
		b.change(func(s *State) { s.Collected = got })
		collected <- err
	}()
	if err = b.add(ctx, client, batch); err == nil {
		close(submitted)
		err = b.follow(ctx, client, batch.ID)
	}
	if err != nil {
		stop()
	}
	err = b.left(ctx, client, batch.ID, err)
	if e := <-collected; err == nil {
		err = e
	}
	if err == nil {
		// A result may have been refused.
		b.conclude(ctx, client, b.last())
	}
	return err
}

// left cancels the rest of a batch that belongs to this run after an error.
func (b *Run) left(ctx context.Context, client *farm.Client, id string, err error) error {
	if err == nil || id == "" || !b.request.Own {
		return err
	}
	// A cancelled batch does not need the rest.
	leave, done := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer done()
	if _, e := client.Control(leave, id, farm.Cancel); e != nil && ctx.Err() == nil {
		err = errors.Join(err, e)
	}
	return err
}

// open opens the batch of the request. A cancelled batch that belongs to the request continues; on this computer also
// a paused one, which was killed while it repeated failed files.
func (b *Run) open(ctx context.Context, client *farm.Client) (farm.Batch, error) {
	r := &b.request
	o := Order(r.Work, r.Language)
	o.Upload = b.uploads()
	again := r.Again
	if b.alone() {
		// The results belong to one folder of one machine.
		host, _ := os.Hostname()
		folder, err := filepath.Abs(r.Folder)
		if err != nil {
			folder = r.Folder
		}
		again = strings.Join([]string{again, host, folder}, "\x00")
	}
	batch, err := client.Open(ctx, farm.Batch{Work: o, Program: r.Version, Model: network.SHA256()}, again, b.remark)
	switch {
	case err != nil || batch.State == farm.Running:
	case r.Own && (batch.State == farm.Cancelled || r.Farm == ""):
		_, err = client.Control(ctx, batch.ID, farm.Resume)
	default:
		b.remark(Waits(batch.ID))
	}
	return batch, err
}

// Waits is the remark on a batch that does not continue by itself.
func Waits(id string) error {
	return message.Errorf("batch %s was paused or cancelled; its files wait for `blik farm resume %s`", id, id)
}

// retry has the failed files of a finished batch processed again.
func retry(ctx context.Context, client *farm.Client, id string) error {
	st, err := client.Status(ctx, id, 0)
	if err == nil && len(st.Batches) == 1 && st.Batches[0].Finished() {
		_, err = client.Control(ctx, id, farm.Retry)
	}
	return err
}

// add adds the files to a batch.
func (b *Run) add(ctx context.Context, client *farm.Client, batch farm.Batch) error {
	done, err := client.Add(ctx, batch, b.jobs(ctx, batch.ID), b.remark)
	if err == nil && done.Ready > 0 {
		done.Missing, err = b.replace(ctx, client, batch.ID)
	}
	if err == nil {
		b.change(func(s *State) { s.Submitted = &done })
	}
	return err
}

// replace has the files in shared folders processed again whose results no longer exist, and returns their number.
func (b *Run) replace(ctx context.Context, client *farm.Client, id string) (int, error) {
	var (
		missing []string
		err     error
	)
	b.before, err = client.Results(ctx, id, 0, func(r farm.Result) error {
		folder := b.sent[r.Job.ID]
		if folder != "" && !b.uploads() && r.End == farm.Done && len(r.Outputs) > 0 &&
			!work.Exists(filepath.Join(folder, filepath.Base(r.Outputs[0].Name))) {
			missing = append(missing, r.Job.ID)
		}
		return nil
	})
	if err == nil {
		err = client.Again(ctx, id, missing, b.remark)
	}
	return len(missing), err
}

// jobs returns an iterator over the files of a batch; files that cannot be submitted count as failed.
func (b *Run) jobs(ctx context.Context, batch string) func() (farm.Job, bool) {
	files := b.request.Files
	return func() (farm.Job, bool) {
		for len(files) > 0 {
			f := files[0]
			files = files[1:]
			job, err := b.job(ctx, f)
			if err == nil {
				b.sent[job.Of(batch).ID] = filepath.Join(b.request.Folder, f.Folder)
				return job, true
			}
			if ctx.Err() != nil {
				return farm.Job{}, false
			}
			if b.request.Notify != nil {
				b.request.Notify(err)
			}
			failure := farm.Failure{File: f.Path, Reason: err.Error()}
			b.unsent = append(b.unsent, failure)
			b.change(func(s *State) {
				s.Failed++
				s.Unsent++
				s.Failures = append(s.Failures, failure)
			})
		}
		return farm.Job{}, false
	}
}

// job describes a file to the farm.
func (b *Run) job(ctx context.Context, f File) (farm.Job, error) {
	if f.Err != nil {
		return farm.Job{}, f.Err
	}
	if !work.Exists(f.Path) {
		return farm.Job{}, message.Errorf("%s: no such file", f.Path)
	}
	err := farm.Portable(path.Join(filepath.ToSlash(f.Folder), filepath.Base(f.Path)))
	switch {
	case err != nil && b.uploads():
		return farm.Job{}, message.Errorf("%w; rename the file", err)
	case err != nil && !b.request.AnyName:
		return farm.Job{}, message.Errorf("%w; --any-name submits it", err)
	}
	if !b.uploads() {
		return b.request.Roots.NewJob(f.Path, filepath.Join(b.request.Folder, f.Folder))
	}
	if strings.HasPrefix(filepath.Base(f.Path), ".") {
		return farm.Job{}, message.Errorf("%s: files whose names begin with a period are not uploaded; rename it",
			f.Path)
	}
	return farm.NewUpload(ctx, f.Path, f.Folder)
}

// follow watches the batch until it is finished.
func (b *Run) follow(ctx context.Context, client *farm.Client, id string) error {
	own := b.last().Unsent
	cause, silent := "", false
	end, err := client.Wait(ctx, id, 300*time.Millisecond, func(st farm.BatchStatus, all farm.Status) {
		if all.Cause != nil && cause == "" {
			b.remark(all.Cause)
		}
		cause = all.Fault
		results := b.written(ctx, client, id)
		b.change(func(s *State) {
			s.Batch, s.Left, s.Remark = st, st.Left, nil
			s.Files, s.Done, s.Failed = st.Files+own, st.Done, st.Failed+own
			s.Results = append(s.Results[:len(s.Results):len(s.Results)], results...)
			if all.Cause != nil {
				s.Remark = all.Cause
			}
		})
	}, func(err error) {
		// A queue in this process can only be slow.
		if err != nil && !silent && b.request.Farm != "" {
			b.remark(err)
		}
		silent = err != nil
	})
	if err != nil {
		return err
	}
	b.change(func(s *State) { s.Batch = end })
	b.conclude(ctx, client, b.last())
	b.remarks(ctx, client, id)
	return nil
}

func (b *Run) last() State {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.state
}

// written returns the paths of new results, which workers have written to the folder. Their names follow from the
// originals.
func (b *Run) written(ctx context.Context, client *farm.Client, id string) (paths []string) {
	if !b.request.Own || b.uploads() {
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

// conclude takes over the failures of a finished batch; of a batch for the folder alone it counts only the files of the
// request. The batch is finished whether or not their list comes, so that a farm that no longer responds is no error.
func (b *Run) conclude(ctx context.Context, client *farm.Client, s State) {
	end := s.Batch
	for range 3 {
		status, err := client.Status(ctx, end.ID, 1000)
		if err == nil && len(status.Batches) == 1 {
			end = status.Batches[0]
			break
		}
		if ctx.Err() != nil {
			break
		}
	}
	if all := len(end.Failures); b.alone() && end.State != farm.Cancelled {
		end.Failures = slices.DeleteFunc(end.Failures, func(f farm.Failure) bool { return b.sent[f.Job] == "" })
		end.Failed -= all - len(end.Failures)
		end.Files = s.Submitted.Added + s.Submitted.Known
		end.Done = end.Files - end.Failed
	}
	b.change(func(s *State) {
		s.Batch, s.Files, s.Done, s.Failed = end, end.Files+len(b.unsent), end.Done, end.Failed+len(b.unsent)
		s.Failures = append(b.unsent[:len(b.unsent):len(b.unsent)], end.Failures...)
		for _, c := range end.Conflicts {
			s.Failures = append(s.Failures, farm.Failure{File: c.File, Worker: c.Other,
				Reason: message.Of("the workers %s and %s delivered different results; the first counts", c.Worker,
					c.Other).String()})
		}
	})
}

// remarks passes on the remarks about the files that have been processed since they were submitted. Of a worker whose
// results are not where they should be, it names the first.
func (b *Run) remarks(ctx context.Context, client *farm.Client, id string) {
	if b.request.Notify == nil {
		return
	}
	elsewhere := map[string]bool{}
	// Without the list, the batch is finished nevertheless.
	_, _ = client.Results(ctx, id, b.before, func(r farm.Result) error {
		folder := b.sent[r.Job.ID]
		if folder == "" || r.End != farm.Done {
			return nil
		}
		for line := range strings.Lines(r.Remarks) {
			b.request.Notify(fmt.Errorf("%s: %s", r.Job.In, strings.TrimSpace(line)))
		}
		if !b.request.Shared || len(r.Outputs) == 0 || elsewhere[r.Worker] {
			return nil
		}
		if path := filepath.Join(folder, filepath.Base(r.Outputs[0].Name)); !work.Exists(path) {
			elsewhere[r.Worker] = true
			b.request.Notify(message.Errorf("%s: worker %s says that it has written this file, but it does not exist "+
				"here; does --output-root lead to the same folder?", path, r.Worker))
		}
		return nil
	})
}

// Each does some work on files one after the other, in this process. do works on the file of a number; done is called
// with its error, and continues with the next file unless it returns one itself. Each ends when ctx does.
func Each(ctx context.Context, files []string, do func(ctx context.Context, i int) error,
	done func(i int, err error) error,
) error {
	for i := range files {
		err := do(ctx, i)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err := done(i, err); err != nil {
			return err
		}
	}
	return nil
}
