package farm

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"blik/internal/atomicfile"
	"blik/internal/message"
)

// store returns the object store, opened at the first call.
func (c *Client) store(ctx context.Context) (*objects, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.files == nil {
		o, err := openObjects(ctx, c.link)
		if err != nil {
			return nil, err
		}
		c.files = o
	}
	return c.files, nil
}

// upload stores the originals of jobs, and returns the jobs that can be submitted. Files that can never be stored are
// reported through waiting.
func (c *Client) upload(ctx context.Context, batch string, jobs []Job, waiting func(error)) ([]Job, error) {
	if !slices.ContainsFunc(jobs, func(j Job) bool { return j.Upload != "" }) {
		return jobs, nil
	}
	a, err := c.link.insist(ctx, submitNeed, request{ID: batch, Jobs: jobs}, waiting)
	if err != nil {
		return nil, err
	}
	var able []Job
	for _, job := range jobs {
		job.Batch = batch
		job.identify()
		if slices.Contains(a.Need, job.ID) {
			err := c.storeOne(ctx, job, waiting)
			var no *Refusal
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			if errors.As(err, &no) || localFault(err) {
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

// errChanged is the cause of the error of a file that changed while it was read.
var errChanged = message.Errorf("the file changed while it was read")

// localFault reports whether an error is about a file of this machine.
func localFault(err error) bool {
	var local *os.PathError
	return errors.As(err, &local) || errors.Is(err, errChanged)
}

// storeOne stores the original of a job as soon as there is space.
func (c *Client) storeOne(ctx context.Context, job Job, waiting func(error)) error {
	if _, err := c.link.insist(ctx, submitRoom, request{Bytes: job.Size}, waiting); err != nil {
		return err
	}
	return c.withRetries(ctx, waiting, func(o *objects) error {
		return o.put(ctx, job, original, job.Upload, job.file)
	})
}

// withRetries retries until it succeeds or retrying is pointless.
func (c *Client) withRetries(ctx context.Context, waiting func(error), try func(*objects) error) error {
	var rest pause
	for told := false; ; {
		o, err := c.store(ctx)
		if err == nil {
			err = try(o)
		}
		switch {
		case err == nil, errors.Is(err, errGone), errors.Is(err, errDamaged), localFault(err):
			return err
		case ctx.Err() != nil:
			return ctx.Err()
		case c.link.denied.Load() != nil:
			return message.Errorf("%s: the key does not permit this", c.link.where)
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

// Collection is where the results of uploaded files go.
type Collection struct {
	// Folder is the folder of all results of the batch.
	Folder string
	// Overwrite permits replacing files that exist.
	Overwrite bool
	// Every is the polling interval.
	Every time.Duration
	// Notify is called once with each fault of a file, and with errors of the connection.
	Notify func(error)
}

// Collected counts the files fetched, and the jobs whose results could not be fetched.
type Collected struct{ Files, Failed int }

// Collect downloads the results of a batch as they arrive, each file atomically and verified, and has them removed from
// the object store. It ends after the results that existed when done was closed. Results that were downloaded before
// are left alone.
func (c *Client) Collect(ctx context.Context, id string, o Collection, done <-chan struct{}) (Collected, error) {
	var sum Collected
	after := 0
	for last := false; ; {
		select {
		case <-done:
			last = true
		case <-ctx.Done():
			return sum, ctx.Err()
		case <-time.After(o.Every):
		}
		var err error
		var taken []string
		after, err = c.Results(ctx, id, after, func(r Result) error {
			if r.Job.Upload == "" || r.End != Done {
				return nil
			}
			n, err := c.collect(ctx, r, o)
			sum.Files += n
			switch {
			case ctx.Err() != nil:
				return ctx.Err()
			case err != nil:
				sum.Failed++
				o.Notify(fmt.Errorf("%s: %w", r.Job.In, err))
				return nil
			}
			taken = append(taken, r.Job.ID)
			return nil
		})
		for part := range slices.Chunk(taken, chunk) {
			_, e := c.link.insist(ctx, submitTaken, request{ID: id, Names: part}, o.Notify)
			err = errors.Join(err, e)
		}
		var no *Refusal
		switch {
		case ctx.Err() != nil:
			return sum, ctx.Err()
		case errors.As(err, &no), err == nil && last:
			return sum, err
		case err != nil:
			o.Notify(err)
		}
	}
}

// collect downloads the missing files of a result and returns their number.
func (c *Client) collect(ctx context.Context, r Result, o Collection) (int, error) {
	folder := filepath.FromSlash(r.Job.Out.Path)
	if !filepath.IsLocal(folder) {
		return 0, message.Errorf("its folder lies outside that of the results")
	}
	folder = filepath.Join(o.Folder, folder)
	n := 0
	for _, out := range r.Outputs {
		if out.Name != filepath.Base(out.Name) || !filepath.IsLocal(out.Name) || Portable(out.Name) != nil {
			return n, message.Errorf("the result %s does not have a valid file name", out.Name)
		}
		got, err := c.fetch(ctx, r.Job, out, folder, o)
		if err != nil {
			return n, err
		}
		if got {
			n++
		}
	}
	return n, nil
}

// fetch downloads a file unless it exists.
func (c *Client) fetch(ctx context.Context, job Job, out Output, folder string, o Collection) (bool, error) {
	target := filepath.Join(folder, out.Name)
	if there, _, err := sumOf(ctx, target); err == nil && there == out.SHA256 {
		return false, nil
	}
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return false, message.Errorf("%s: the folder cannot be created (%w)", folder, plain(err))
	}
	t := atomicfile.Target{FS: atomicfile.Disk{}, Path: target, Overwrite: o.Overwrite}
	var rest pause
	for told := false; ; {
		err := c.withRetries(ctx, o.Notify, func(store *objects) error {
			fill := func(f atomicfile.File) error { return store.get(ctx, job, results, out.SHA256, f) }
			return t.Write(ctx, fill, nil)
		})
		switch {
		case errors.Is(err, os.ErrExist):
			return false, message.Errorf("%s exists; --overwrite replaces it", target)
		case errors.Is(err, errGone):
			return false, message.Errorf("%s was fetched before and no longer exists; use --again to process it again",
				target)
		case !diskFull(err) || ctx.Err() != nil:
			return err == nil, err
		}
		if !told {
			o.Notify(message.Errorf("%s: the disk is full; the rest is fetched when there is space", folder))
			told = true
		}
		if err := rest.wait(ctx); err != nil {
			return false, err
		}
	}
}
