package farm

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"blik/internal/atomicfile"
	"blik/internal/message"
)

// upload stores the originals of jobs, and returns the jobs that can be submitted. Files that can never be stored are
// reported through waiting.
func (c *Client) upload(ctx context.Context, batch string, jobs []Job, waiting func(error)) ([]Job, error) {
	if !slices.ContainsFunc(jobs, func(j Job) bool { return j.Upload != "" }) {
		return jobs, nil
	}
	c.remember(batch, jobs)
	a, err := c.link.insist(ctx, SubmitNeed, Request{ID: batch, Jobs: jobs}, waiting)
	if err != nil {
		return nil, err
	}
	var able []Job
	for _, job := range jobs {
		job = job.Of(batch)
		if slices.Contains(a.Need, job.ID) {
			err := c.storeOne(ctx, job, waiting)
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			if _, no := errors.AsType[*Refusal](err); no || localFault(err) {
				if waiting != nil {
					waiting(fmt.Errorf("%s: %w", job.In, err))
				}
				continue
			}
			if err != nil {
				return nil, err
			}
		}
		able = append(able, job)
	}
	return able, nil
}

// remember keeps the jobs of this client: what it fetches goes by its own copy of a job.
func (c *Client) remember(batch string, jobs []Job) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.own == nil {
		c.own = map[string]Job{}
	}
	for _, job := range jobs {
		job = job.Of(batch)
		c.own[job.ID] = job
	}
}

// ownJob returns the job of this client with an ID.
func (c *Client) ownJob(id string) (Job, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	job, ok := c.own[id]
	return job, ok
}

// errChanged is the cause of the error of a file that changed while it was read.
var errChanged = message.Errorf("the file changed while it was read")

// localFault reports whether an error is about a file of this machine.
func localFault(err error) bool {
	_, local := errors.AsType[*os.PathError](err)
	return local || errors.Is(err, errChanged)
}

// lasting reports whether an error is permanent: that of a missing or damaged file, a refusal, or a fault of this
// machine.
func lasting(err error) bool {
	return errors.Is(err, errGone) || errors.Is(err, errDamaged) || errors.Is(err, errLarge) ||
		errors.Is(err, errSettled) || localFault(err) || refused(err)
}

// storeOne stores the original of a job as soon as there is space.
func (c *Client) storeOne(ctx context.Context, job Job, waiting func(error)) error {
	if _, err := c.link.insist(ctx, SubmitRoom, Request{Bytes: job.Size}, waiting); err != nil {
		return err
	}
	return c.link.withRetries(ctx, waiting, func() error {
		r := Request{ID: job.Batch, Jobs: []Job{job}}
		return c.link.send(ctx, SubmitPut, r, job.Upload, job.Size, job.file)
	})
}

// withRetries retries until it succeeds or retrying is pointless.
func (l *Link) withRetries(ctx context.Context, waiting func(error), try func() error) error {
	var rest pause
	for told := false; ; {
		err := try()
		switch {
		case err == nil, lasting(err):
			return err
		case ctx.Err() != nil:
			return ctx.Err()
		case l.denied.Load() != nil:
			return message.Errorf("%s: the key does not permit this", l.where)
		}
		if !told && waiting != nil {
			waiting(err)
			told = true
		}
		if err := rest.wait(ctx); err != nil {
			return err
		}
	}
}

// Checker checks what workers deliver.
type Checker interface {
	// Names refuses names of files that are not those of the results of an original. The first is the result itself.
	Names(original string, names []string) error
	// MaxBytes returns the size that no file of a result of an original exceeds.
	MaxBytes(original string) int64
	// Check refuses files of a folder that are not a result of an original. The error is a *Suspicion if the files are
	// at fault, and not this machine.
	Check(ctx context.Context, original, folder string, names []string) error
	// Renewable reports whether replacing a file loses nothing, which exists beside the place of a result with a
	// SHA-256.
	Renewable(ctx context.Context, path, result, sum string) bool
}

// Suspicion is a result that a Checker refuses.
type Suspicion struct{ Err error }

func (s *Suspicion) Error() string            { return s.Err.Error() }
func (s *Suspicion) Unwrap() error            { return s.Err }
func (s *Suspicion) Message() message.Message { return message.Of("%s", s.Err) }

// Collection is where the results of uploaded files go.
type Collection struct {
	// Folder is the folder of all results of the batch.
	Folder string
	// Overwrite permits replacing files that exist, but never an input: a file for which Input returns true.
	Overwrite bool
	Input     func(path string) bool
	// Checker checks every result before its files get their names.
	Checker Checker
	// Every is the polling interval.
	Every time.Duration
	// Notify is called once with each fault of a file, and with errors of the connection.
	Notify func(error)
	// Like is called with each file before anything is written to it, to give it what it shall have of the original,
	// such as permissions. first: it is the result itself.
	Like func(to atomicfile.File, original string, first bool)
	// Fetched is called with the path of each result whose files are there, and that of its original.
	Fetched func(path, original string)
}

// Collected counts the files fetched, and the jobs whose results could not be fetched.
type Collected struct{ Files, Failed int }

// collector is one run of Collect.
type collector struct {
	*Client
	Collection
	id      string
	scratch *scratchDir
	sum     Collected
}

// Collect downloads the results of a batch as they arrive and checks them against the originals, which this client must
// have submitted. Files get their names after that, each atomically, and are removed from the object store. A result
// that is refused counts as failed, and its file is handed out again, as is one whose result was downloaded before and
// no longer exists. Other results that were downloaded before are left alone. After submitted was closed, Collect ends
// as soon as the batch is finished and all its results have been seen.
func (c *Client) Collect(ctx context.Context, id string, o Collection, submitted <-chan struct{}) (Collected, error) {
	scratch, err := openScratch(o.Folder)
	if err != nil {
		return Collected{}, err
	}
	defer scratch.close()
	k := &collector{Client: c, Collection: o, id: id, scratch: scratch}
	var unknown []Result
	after, all := 0, false
	for {
		select {
		case <-submitted:
			all = true
		default:
		}
		finished := false
		if all {
			if st, err := c.Status(ctx, id, 0); err == nil {
				finished = len(st.Batches) == 1 && st.Batches[0].Finished()
			}
		}
		var found []Result
		next, err := c.Results(ctx, id, after, func(r Result) error {
			if r.Job.Upload != "" && r.End == Done {
				found = append(found, r)
			}
			return nil
		})
		if err == nil {
			after = next
		} else {
			finished = false
		}
		again, left, e := k.fetchAll(ctx, append(unknown, found...), all)
		unknown = left
		if err = errors.Join(err, e); ctx.Err() != nil {
			return k.sum, ctx.Err()
		}
		switch {
		case refused(err):
			return k.sum, err
		case err != nil:
			o.Notify(err)
		case finished && !again:
			return k.sum, nil
		}
		if err := sleep(ctx, o.Every); err != nil {
			return k.sum, err
		}
	}
}

// fetchAll downloads results, and reports whether any file was handed out again. Results of jobs that this client has
// not yet submitted are returned; once all are submitted, those that nobody fetched count as not fetched.
func (k *collector) fetchAll(ctx context.Context, results []Result, all bool) (again bool, left []Result, err error) {
	var taken []string
	for _, r := range results {
		job, ok := k.ownJob(r.Job.ID)
		if !ok {
			if !all {
				left = append(left, r)
				continue
			}
			if !k.kept(ctx, r) {
				continue
			}
			k.sum.Failed++
			k.Notify(message.Errorf("%s: its original is not among the files given here, so its result cannot be "+
				"checked; it stays on the server", r.Job.In.String()))
			continue
		}
		n, err := k.collect(ctx, job, r)
		k.sum.Files += n
		_, bad := errors.AsType[*Suspicion](err)
		switch {
		case ctx.Err() != nil:
			return again, left, ctx.Err()
		case bad:
			k.Notify(message.Errorf("%s: the result of worker %s was refused: %w", job.In.String(), r.Worker, err))
			handed, err := k.reject(ctx, job, err)
			if err != nil {
				k.Notify(err)
			}
			again = again || handed
		case errors.Is(err, errGone):
			if err = k.handOut(ctx, job); err == nil {
				again = true
				k.Notify(message.Errorf("%s: its result was fetched before and no longer exists; it is made again",
					job.In.String()))
				continue
			}
			fallthrough
		case err != nil:
			k.sum.Failed++
			k.Notify(fmt.Errorf("%s: %w", job.In, err))
		default:
			taken = append(taken, job.ID)
		}
	}
	for part := range slices.Chunk(taken, MaxList) {
		_, e := k.link.insist(ctx, SubmitTaken, Request{ID: k.id, Names: part}, k.Notify)
		err = errors.Join(err, e)
	}
	return again, left, err
}

// kept reports whether the farm still has the files of a result, which are removed once they were fetched.
func (k *collector) kept(ctx context.Context, r Result) bool {
	if len(r.Outputs) == 0 {
		return false
	}
	file := Stored{Job: r.Job.ID, Result: true, SHA256: r.Outputs[0].SHA256}
	a, err := k.link.Ask(ctx, SubmitGet, Request{ID: k.id, File: &file})
	return err != nil || a.Verdict == Proceed
}

// reject withdraws a result, and has its file processed again, unless that has been tried often enough.
func (k *collector) reject(ctx context.Context, job Job, why error) (again bool, err error) {
	a, err := k.link.insist(ctx, SubmitReject, Request{ID: k.id, Names: []string{job.ID}, Log: why.Error()}, k.Notify)
	if err != nil || len(a.Need) == 0 {
		return false, err
	}
	if err := k.handOut(ctx, job); err != nil {
		return false, fmt.Errorf("%s: %w", job.In, err)
	}
	return true, nil
}

// handOut has the file of a job processed again.
func (k *collector) handOut(ctx context.Context, job Job) error {
	err := k.storeOne(ctx, job, k.Notify)
	if err == nil {
		err = k.Again(ctx, k.id, []string{job.ID}, k.Notify)
	}
	return err
}

// collect downloads the missing files of a result and returns their number. Folder and names are those of the job as
// this client submitted it.
func (k *collector) collect(ctx context.Context, job Job, r Result) (int, error) {
	folder := filepath.FromSlash(job.Out.Path)
	if !filepath.IsLocal(folder) {
		return 0, message.Errorf("its folder lies outside that of the results")
	}
	folder = filepath.Join(k.Folder, folder)
	var names []string
	for _, o := range r.Outputs {
		if !ValidOutput(o.Name) || !ValidSum(o.SHA256) || slices.Contains(names, o.Name) {
			return 0, &Suspicion{message.Errorf("the result %s does not have a valid file name", Clip(o.Name, MaxName))}
		}
		names = append(names, o.Name)
	}
	if err := k.Checker.Names(job.file, names); err != nil {
		return 0, &Suspicion{err}
	}
	// Reports that somebody altered after they had been fetched stay as they are.
	missing, altered := false, true
	for i, o := range r.Outputs {
		target := filepath.Join(folder, o.Name)
		if k.Input != nil && k.Input(target) {
			return 0, message.Errorf("%s is an input and would be overwritten by the result of %s; choose another "+
				"folder with -o", target, job.file)
		}
		there, _, err := sumOf(ctx, target)
		if err != nil || there != o.SHA256 {
			missing, altered = true, altered && err == nil && i > 0
		}
	}
	n := 0
	if missing {
		var err error
		if n, err = k.fetchOne(ctx, job, r, folder, names); err != nil && !(altered && errors.Is(err, errGone)) {
			return n, err
		}
	}
	if len(names) > 0 {
		k.Fetched(filepath.Join(folder, names[0]), job.file)
	}
	return n, nil
}

// fetchOne downloads the files of a result, checks them, and gives them their names, the result itself last.
func (k *collector) fetchOne(ctx context.Context, job Job, r Result, folder string, names []string) (int, error) {
	if sum, _, err := sumOf(ctx, job.file); err != nil || sum != job.Upload {
		return 0, message.Errorf("the original has changed since it was submitted, so its result cannot be checked")
	}
	desk, err := k.scratch.place(job)
	if err != nil {
		return 0, message.Errorf("%s: the folder cannot be created (%w)", k.Folder, message.Plain(err))
	}
	defer os.RemoveAll(desk)
	for _, o := range r.Outputs {
		if err := k.download(ctx, job, o, filepath.Join(desk, o.Name)); err != nil {
			return 0, err
		}
	}
	if err := k.Checker.Check(ctx, job.file, desk, names); err != nil {
		return 0, err
	}
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return 0, message.Errorf("%s: the folder cannot be created (%w)", folder, message.Plain(err))
	}
	tx := atomicfile.Begin(atomicfile.Disk{})
	defer tx.Close()
	for i, name := range slices.Backward(names) {
		t := atomicfile.Target{FS: atomicfile.Disk{}, Path: filepath.Join(folder, name), Overwrite: k.Overwrite}
		switch there, _, err := sumOf(ctx, t.Path); {
		case err == nil && there == r.Outputs[i].SHA256:
			continue
		case err == nil && !t.Overwrite:
			if !k.Checker.Renewable(ctx, t.Path, filepath.Join(folder, names[0]), r.Outputs[0].SHA256) {
				return 0, k.nameFault(t.Path, os.ErrExist)
			}
			t.Overwrite = true
		}
		err := tx.Add(ctx, t, func(to atomicfile.File) error {
			k.Like(to, job.file, i == 0)
			return copyFile(to, filepath.Join(desk, name))
		}, nil)
		if err != nil {
			return 0, k.nameFault(t.Path, err)
		}
	}
	if err := tx.Commit(ctx); err != nil {
		return 0, k.nameFault(filepath.Join(folder, names[0]), err)
	}
	return len(names), nil
}

func (k *collector) nameFault(target string, err error) error {
	if errors.Is(err, os.ErrExist) {
		return message.Errorf("%s exists; --overwrite replaces it", target)
	}
	return err
}

func copyFile(to io.Writer, file string) error {
	from, err := os.Open(file)
	if err != nil {
		return err
	}
	defer from.Close()
	_, err = io.Copy(to, from)
	return err
}

// download writes a file of a result to a new file. If the disk is full, it waits.
func (k *collector) download(ctx context.Context, job Job, o Output, file string) error {
	var rest pause
	for told := false; ; {
		err := k.link.withRetries(ctx, k.Notify, func() error {
			r := Request{ID: k.id, File: &Stored{Job: job.ID, Result: true, SHA256: o.SHA256}}
			return k.link.receiveFile(ctx, SubmitGet, r, o.SHA256, k.Checker.MaxBytes(job.file), file)
		})
		switch {
		case errors.Is(err, errDamaged), errors.Is(err, errLarge):
			return &Suspicion{fmt.Errorf("%s: %w", o.Name, err)}
		case !diskFull(err) || ctx.Err() != nil:
			return err
		}
		if !told {
			k.Notify(message.Errorf("%s: the disk is full; the rest is fetched when there is space", k.Folder))
			told = true
		}
		if err := rest.wait(ctx); err != nil {
			return err
		}
	}
}
