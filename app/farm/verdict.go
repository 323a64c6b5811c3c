package farm

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"blik/app/i18n"
	"blik/internal/message"

	"github.com/nats-io/nats.go/jetstream"
)

// hello records a worker's heartbeat and replies with the current batches.
func (m *Manager) hello(_ context.Context, r request) (answer, error) {
	w := r.Worker
	if w == nil || w.Name == "" {
		return answer{}, refuse("the request cannot be read")
	}
	now := time.Now()
	w.Seen = now
	skew := w.Time.Sub(now).Abs()
	m.mu.Lock()
	defer m.mu.Unlock()
	m.workers[w.Name] = w
	if skew > skewed && !m.skewed[w.Name] {
		m.skewed[w.Name] = true
		m.options.Log.Warn("the clock of a worker is wrong", "worker", w.Name, "difference", skew.String())
	}
	a := answer{Time: now, Every: m.heartbeatInterval()}
	for _, id := range m.order {
		b := m.batches[id]
		if b.State == Cancelled || b.done+b.failed < len(b.jobs) {
			a.Batches = append(a.Batches, b.Batch)
		}
	}
	return a, nil
}

// heartbeatInterval returns the interval between heartbeats.
func (m *Manager) heartbeatInterval() time.Duration {
	return min(heartbeatInterval, m.options.Patience/4)
}

// begin decides whether a worker may start a job that it has received.
func (m *Manager) begin(ctx context.Context, r request) (answer, error) {
	if r.Job == nil || r.Worker == nil {
		return answer{}, refuse("the request cannot be read")
	}
	b, err := m.find(r.Job.Batch)
	if err != nil {
		return answer{Verdict: settled}, nil
	}
	key, ok := keyOf(r.Job.ID)
	m.mu.Lock()
	old, known := b.jobs[key]
	verdict := proceed
	switch {
	case !ok || !known || old.status() != waiting || b.State == Cancelled:
		verdict = settled
	case b.State == Paused || r.Worker.Program != b.Program || r.Worker.Model != b.Model,
		m.inWork(r.Job.ID, r.Worker.Name, r.Delivered):
		verdict = hold
	}
	lost := 0
	if verdict == proceed {
		lost = m.hold(r.Job.ID, r.Worker.Name)
	}
	m.mu.Unlock()
	if lost >= maxLost {
		text := message.Of("%d workers disappeared while processing this file; set aside", lost)
		return answer{Verdict: settled}, m.settle(ctx, b, Result{
			Job: *r.Job, Outcome: Outcome{End: Failed, Sentence: b.say(text)}, Worker: r.Worker.Name,
		})
	}
	return answer{Verdict: verdict, Wait: m.heartbeatInterval()}, nil
}

// inWork reports whether another live worker is processing a job: a restarted server hands out jobs again. Right after
// its start the manager does not yet know which workers exist.
func (m *Manager) inWork(job, asks string, delivered int) bool {
	if delivered > 1 && time.Since(m.started) < 2*m.heartbeatInterval() {
		return true
	}
	for name, w := range m.workers {
		if name != asks && time.Since(w.Seen) < 3*m.heartbeatInterval() &&
			slices.ContainsFunc(w.Activities, func(d Activity) bool { return d.Job == job }) {
			return true
		}
	}
	return false
}

// hold records the holder of a job and returns how many workers vanished with it. A worker that gave the job back has
// not vanished.
func (m *Manager) hold(job, worker string) (lost int) {
	h := m.holders[job]
	last := m.workers[h.worker]
	if h.worker != "" && h.worker != worker && (last == nil || time.Since(last.Seen) > 3*m.heartbeatInterval()) {
		h.lost++
	}
	h.worker = worker
	m.holders[job] = h
	return h.lost
}

// result stores the result of a worker. The first result of a job counts.
func (m *Manager) result(ctx context.Context, r request) (answer, error) {
	if r.Result == nil || r.Result.End != Done && r.Result.End != Failed {
		return answer{}, refuse("the request cannot be read")
	}
	b, err := m.find(r.Result.Job.Batch)
	if err != nil {
		return answer{Verdict: settled}, nil
	}
	return answer{Verdict: settled}, m.settle(ctx, b, *r.Result)
}

// say writes a text in the language of the batch.
func (b *batch) say(text message.Message) string { return i18n.For(b.Work.Language).Sprint(text) }

// settle stores a result, unless there is one; then both are compared.
func (m *Manager) settle(ctx context.Context, b *batch, r Result) error {
	key, ok := keyOf(r.Job.ID)
	if !ok {
		return refuse("the request cannot be read")
	}
	m.mu.Lock()
	old, known := b.jobs[key]
	m.mu.Unlock()
	if !known {
		return refuse("batch %s has no such file", b.ID)
	}
	r.Ended, r.Crashes = time.Now().UTC(), old.crashes()
	kind := kindDone
	if r.End == Failed {
		kind = kindFailed
	}
	settled, err := m.append(ctx, b, kind, key, r)
	if err == nil && r.End == Done {
		m.used(ctx, r.Job)
	}
	switch {
	case err != nil:
		return err
	case settled.status() != waiting:
		return m.compare(ctx, b, r, settled)
	case r.End == Failed:
		m.options.Log.Warn("failed", "batch", b.ID, "file", r.Job.In.String(), "why", r.Sentence, "worker", r.Worker)
	default:
		m.options.Log.Info("done", "batch", b.ID, "file", r.Job.In.String(), "worker", r.Worker, "seconds", r.Seconds)
	}
	return nil
}

// compare checks that a second result of a job equals the first one.
func (m *Manager) compare(ctx context.Context, b *batch, r Result, old mark) error {
	first, err := m.stored(ctx, old.seq(), r.Job.ID)
	if err != nil {
		return err
	}
	switch {
	case r.End == Failed && first.End == Done:
		m.options.Log.Info("failed after it was done", "batch", b.ID, "file", r.Job.In.String(), "worker", r.Worker,
			"why", r.Sentence)
	case !first.same(r):
		m.options.Log.Error("two results differ", "batch", b.ID, "file", r.Job.In.String(),
			"first", first.SHA256, "first worker", first.Worker, "second", r.SHA256, "second worker", r.Worker)
	default:
		m.options.Log.Info("done twice, with the same result", "batch", b.ID, "file", r.Job.In.String(),
			"worker", r.Worker)
	}
	return nil
}

// stored reads a result.
func (m *Manager) stored(ctx context.Context, seq uint64, job string) (Result, error) {
	var r Result
	msg, err := m.stores.results.GetMsg(ctx, seq)
	if err != nil {
		return r, err
	}
	err = errors.New("an entry of RESULTS is damaged")
	eachEntry(msg.Data, func(e entry) {
		if e.key.String() == job {
			err = json.Unmarshal(e.body, &r)
		}
	})
	return r, err
}

// crash records a crash while a file was processed, and sets the file aside after too many.
func (m *Manager) crash(ctx context.Context, r request) (answer, error) {
	if r.Job == nil || r.Worker == nil {
		return answer{}, refuse("the request cannot be read")
	}
	b, err := m.find(r.Job.Batch)
	if err != nil {
		return answer{Verdict: settled}, nil
	}
	key, ok := keyOf(r.Job.ID)
	if !ok {
		return answer{}, refuse("the request cannot be read")
	}
	m.mu.Lock()
	old, known := b.jobs[key]
	m.mu.Unlock()
	if !known || old.status() != waiting {
		return answer{Verdict: settled}, nil
	}
	if _, err := m.append(ctx, b, kindCrash, key, Result{Job: *r.Job, Worker: r.Worker.Name, Log: r.Log}); err != nil {
		return answer{}, err
	}
	crashes := m.markOf(b, key).crashes()
	m.options.Log.Error("crash", "batch", b.ID, "file", r.Job.In.String(), "worker", r.Worker.Name, "crashes", crashes,
		"log", r.Log)
	if crashes < maxCrashes {
		return answer{Verdict: proceed, Wait: m.heartbeatInterval() / 2}, nil
	}
	text := message.Of("the program crashed %d times on this file; set aside", crashes)
	return answer{Verdict: settled}, m.settle(ctx, b, Result{
		Job: *r.Job, Outcome: Outcome{End: Failed, Sentence: b.say(text)}, Worker: r.Worker.Name, Log: r.Log,
		Program: r.Worker.Program, Model: r.Worker.Model,
	})
}

// The actions of control.
const (
	Pause  = "pause"
	Resume = "resume"
	Cancel = "cancel"
	Retry  = "retry"
)

// control pauses, resumes or cancels a batch or repeats its failures; without an ID it applies to all batches.
func (m *Manager) control(ctx context.Context, r request) (answer, error) {
	ids := []string{r.ID}
	if r.ID == "" {
		m.mu.Lock()
		ids = slices.Clone(m.order)
		m.mu.Unlock()
	}
	var a answer
	for _, id := range ids {
		b, err := m.find(id)
		if err != nil {
			return answer{}, err
		}
		n, err := m.act(ctx, b, r.Action)
		if err != nil {
			return answer{}, err
		}
		a.Count += n
	}
	m.wake()
	return a, nil
}

// act applies an action and returns the number of files affected.
func (m *Manager) act(ctx context.Context, b *batch, action string) (int, error) {
	state, ok := map[string]State{Pause: Paused, Resume: Running, Cancel: Cancelled, Retry: Running}[action]
	if !ok {
		return 0, refuse("unknown action %q", action)
	}
	m.mu.Lock()
	left := len(b.jobs) - b.done - b.failed
	if action == Retry && b.failed == 0 || action != Retry && left == 0 {
		m.mu.Unlock()
		return 0, nil
	}
	if action == Retry || b.State == Cancelled && state == Running {
		// All lists are processed once more, skipping finished jobs. JOBS treats the messages as new.
		b.next = 0
		b.Round++
	}
	b.State = state
	if action == Retry {
		b.State = Paused
	}
	copied := b.Batch
	m.mu.Unlock()
	if err := m.keep(ctx, copied); err != nil {
		return 0, err
	}
	m.options.Log.Info(action, "batch", b.ID)
	switch action {
	case Cancel:
		err := m.stores.jobs.Purge(ctx, jetstream.WithPurgeSubject(jobsSubject+b.ID))
		return left, err
	case Retry:
		return m.retryFailed(ctx, b)
	}
	m.wakeFeed()
	return left, nil
}

// retryFailed repeats the failed files of a batch. The batch is paused until all of them are marked, so that a crash
// midway loses none: the batch stays paused.
func (m *Manager) retryFailed(ctx context.Context, b *batch) (int, error) {
	m.mu.Lock()
	var keys []jobKey
	for key, mark := range b.jobs {
		if mark.status() == failed {
			keys = append(keys, key)
		}
	}
	m.mu.Unlock()
	for _, key := range keys {
		if _, err := m.append(ctx, b, kindAgain, key, Result{}); err != nil {
			return 0, err
		}
	}
	m.mu.Lock()
	b.State = Running
	copied := b.Batch
	m.mu.Unlock()
	m.wakeFeed()
	return len(keys), m.keep(ctx, copied)
}
