package farm

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"
)

// Client submits batches and reads their status.
type Client struct {
	link *Link

	mu sync.Mutex
	// own holds the uploaded jobs that this client has submitted, by ID.
	own map[string]Job
}

// Dial connects to a farm. inside, if not nil, is the server in this process.
func Dial(ctx context.Context, j Join, inside Inside) (*Client, error) {
	l, err := Connect(ctx, j, inside, false)
	if err != nil {
		return nil, err
	}
	return &Client{link: l}, nil
}

// Close ends the connection.
func (c *Client) Close() { c.link.Close() }

// Submission is the result of submitting files.
type Submission struct {
	Batch Batch
	// Added are new; Known were submitted before, Ready of them are done. Missing results of these are made again.
	Added, Known, Ready, Missing int
}

// Open returns the batch of some work, creating it if needed. again distinguishes it from others with the same work.
func (c *Client) Open(ctx context.Context, b Batch, again string, waiting func(error)) (Batch, error) {
	a, err := c.link.insist(ctx, SubmitBatch, Request{Batch: b, Again: again}, waiting)
	if err != nil {
		return b, err
	}
	if a.Batch == nil {
		return b, errors.New("the farm opened no batch")
	}
	return *a.Batch, nil
}

// Add adds the files that next returns to a batch until next returns false. If the server has no space or is not
// reachable, Add calls waiting once and waits.
func (c *Client) Add(ctx context.Context, b Batch, next func() (Job, bool), waiting func(error)) (Submission, error) {
	s := Submission{Batch: b}
	for more := true; more; {
		var jobs []Job
		bytes := 0
		for len(jobs) < MaxList && bytes < 400<<10 {
			var job Job
			if job, more = next(); !more {
				break
			}
			jobs = append(jobs, job)
			if job.Upload != "" {
				break // the store has room for the next file only once this one is being processed
			}
			bytes += 2*len(job.In.Path) + 2*len(job.Out.Path) + 200
		}
		if len(jobs) == 0 {
			break
		}
		jobs, err := c.upload(ctx, b.ID, jobs, waiting)
		if err != nil {
			return s, err
		}
		a, err := c.link.insist(ctx, SubmitList, Request{ID: s.Batch.ID, Jobs: jobs}, waiting)
		if err != nil {
			return s, err
		}
		s.Added, s.Known, s.Ready = s.Added+a.Added, s.Known+a.Known, s.Ready+a.Ready
	}
	return s, nil
}

// Again has finished jobs of a batch with shared folders processed once more.
func (c *Client) Again(ctx context.Context, id string, jobs []string, waiting func(error)) error {
	for part := range slices.Chunk(jobs, MaxList) {
		if _, err := c.link.insist(ctx, SubmitAgain, Request{ID: id, Names: part}, waiting); err != nil {
			return err
		}
	}
	return nil
}

// Status returns the status of one batch or, without an ID, of all, each with its first failures.
func (c *Client) Status(ctx context.Context, id string, failures int) (Status, error) {
	a, err := c.link.Ask(ctx, SeeStatus, Request{ID: id, Failures: failures})
	if err != nil {
		return Status{}, err
	}
	if a.Status == nil {
		return Status{}, errors.New("the farm sent no status")
	}
	return *a.Status, nil
}

// Control applies an action to a batch or, without an ID, to all; it returns the number of files affected.
func (c *Client) Control(ctx context.Context, id, action string) (int, error) {
	a, err := c.link.Ask(ctx, Control, Request{ID: id, Action: action})
	return a.Count, err
}

// Results calls f with each result of a batch so far, and returns the number from which to continue.
func (c *Client) Results(ctx context.Context, id string, after int, f func(Result) error) (int, error) {
	for {
		a, err := c.link.Ask(ctx, SeeJobs, Request{ID: id, Delivered: after})
		if err != nil || len(a.Jobs) == 0 {
			return after, err
		}
		for _, r := range a.Jobs {
			if err := f(r); err != nil {
				return after, err
			}
		}
		after = a.Count
	}
}

// Wait polls the status of a batch until it is finished. It calls look with each answer, and fault with the error when
// the farm does not respond and with nil when it responds again.
func (c *Client) Wait(ctx context.Context, id string, every time.Duration, look func(BatchStatus, Status),
	fault func(error),
) (BatchStatus, error) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		s, err := c.Status(ctx, id, 0)
		if _, no := errors.AsType[*Refusal](err); no || c.link.denied.Load() != nil && err != nil {
			return BatchStatus{}, err
		}
		if ctx.Err() != nil {
			return BatchStatus{}, ctx.Err()
		}
		fault(err)
		if err == nil && len(s.Batches) == 1 {
			look(s.Batches[0], s)
			if s.Batches[0].Finished() {
				return s.Batches[0], nil
			}
		}
		select {
		case <-ctx.Done():
			return BatchStatus{}, ctx.Err()
		case <-tick.C:
		}
	}
}
