package server

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"blik/app/farm"
	"blik/app/i18n"
	"blik/internal/message"
)

// hello records a worker's heartbeat, if there are not too many workers. It is only for display.
func (m *Manager) hello(_ context.Context, r farm.Request) (farm.Answer, error) {
	w := r.Worker
	if w == nil || w.Name == "" {
		return farm.Answer{}, errUnreadable()
	}
	clipHeartbeat(w)
	now := time.Now()
	w.Seen = now
	skew := w.Time.Sub(now).Abs()
	m.mu.Lock()
	defer m.mu.Unlock()
	name := r.Key + "\x00" + w.Name
	old := m.workers[name]
	if old == nil && !m.roomForWorker(r.Key) {
		return farm.Answer{Time: now, Every: m.heartbeatInterval()}, nil
	}
	seen := &seenWorker{Heartbeat: *w, key: r.Key, skewed: old != nil && old.skewed}
	m.workers[name] = seen
	if skew > farm.MaxSkew && !seen.skewed {
		seen.skewed = true
		m.options.Log.Warn("the clock of a worker is wrong", "worker", w.Name, "difference", skew.String())
	}
	return farm.Answer{Time: now, Every: m.heartbeatInterval()}, nil
}

// roomForWorker reports whether another worker with a key can be listed; mu must be held.
func (m *Manager) roomForWorker(key string) bool {
	own := 0
	for name, w := range m.workers {
		switch {
		case time.Since(w.Seen) > vanished:
			delete(m.workers, name)
		case w.key == key:
			own++
		}
	}
	return len(m.workers) < maxWorkers && (key == "" || own < maxKeyWorkers)
}

// heartbeatInterval returns the interval between heartbeats and between renewals of a job.
func (m *Manager) heartbeatInterval() time.Duration {
	return min(farm.HeartbeatInterval, m.options.Patience/4)
}

// result stores the result of the holder of a job. A second result of an earlier holder is compared with the first.
func (m *Manager) result(ctx context.Context, r farm.Request, t ticket) (farm.Answer, error) {
	if r.Result == nil {
		return farm.Answer{}, errUnreadable()
	}
	m.mu.Lock()
	b, l := m.holder(t)
	if l != nil {
		t.Issued = l.Issued // unlike the time of the ticket, it does not change with the clock
	}
	m.mu.Unlock()
	if err := clean(r.Result, t.Job, time.Since(t.Issued)); err != nil {
		return farm.Answer{}, err
	}
	result := farm.Result{
		Job: t.Job, Outcome: r.Result.Outcome, Worker: t.Worker, Key: t.Key, Program: t.Program, Model: t.Model,
		Seconds: r.Result.Seconds, Ended: time.Now().UTC(),
	}
	switch {
	case b == nil:
		return farm.Answer{Verdict: farm.Settled}, nil
	case l == nil:
		return farm.Answer{Verdict: farm.Settled}, m.compare(ctx, b, result)
	}
	return farm.Answer{Verdict: farm.Settled}, m.settle(ctx, b, result)
}

// say writes a text in the language of the batch.
func (b *batch) say(text message.Message) string { return i18n.For(b.Work.Language).Sprint(text) }

// settle stores a result, unless there is one. Its crashes are those that are not stored yet.
func (m *Manager) settle(ctx context.Context, b *batch, r farm.Result) error {
	key, ok := keyOf(r.Job.ID)
	if !ok {
		return errUnreadable()
	}
	r.Ended = time.Now().UTC()
	r.Crashes += m.markOf(b, key).crashes()
	kind := kindDone
	if r.End == farm.Failed {
		kind = kindFailed
	}
	before, err := m.append(ctx, b, kind, key, r)
	switch {
	case err != nil:
		return err
	case before.status() != waiting:
		return m.compare(ctx, b, r)
	case r.End == farm.Failed:
		m.options.Log.Warn("failed", "batch", b.ID, "file", r.Job.In.String(), "why", r.Sentence, "worker", r.Worker)
	default:
		m.used(ctx, r.Job)
		m.options.Log.Info("done", "batch", b.ID, "file", r.Job.In.String(), "worker", r.Worker, "seconds", r.Seconds)
	}
	return nil
}

// keptConflicts bounds the conflicts of a batch.
const keptConflicts = 100

// compare checks that a second result of a job equals the first one, and keeps a difference.
func (m *Manager) compare(ctx context.Context, b *batch, r farm.Result) error {
	key, _ := keyOf(r.Job.ID)
	old := m.markOf(b, key)
	if old.status() == waiting {
		return nil // another worker holds it, or the batch was cancelled
	}
	first, err := m.stored(ctx, old.seq(), r.Job.ID)
	if err != nil {
		return err
	}
	switch {
	case first.Worker == r.Worker && first.Key == r.Key && first.Same(r):
		return nil // an answer was lost, and the worker asked again
	case r.End == farm.Failed && first.End == farm.Done:
		m.options.Log.Info("failed after it was done", "batch", b.ID, "file", r.Job.In.String(), "worker", r.Worker,
			"why", r.Sentence)
		return nil
	case first.Same(r):
		m.options.Log.Info("done twice", "batch", b.ID, "file", r.Job.In.String(), "worker", r.Worker)
		return nil
	}
	c := farm.Conflict{
		File: r.Job.In.String(), Worker: first.Worker, SHA256: first.SHA256, Other: r.Worker, OtherSHA256: r.SHA256,
	}
	m.options.Log.Error("two results differ", "batch", b.ID, "file", c.File, "first", c.SHA256,
		"first worker", c.Worker, "second", c.OtherSHA256, "second worker", c.Other)
	m.mu.Lock()
	known := len(b.conflicts) >= keptConflicts || slices.Contains(b.conflicts, c)
	m.mu.Unlock()
	if known {
		return nil
	}
	_, err = m.append(ctx, b, kindDiffers, key, c)
	return err
}

// stored reads a result.
func (m *Manager) stored(ctx context.Context, seq uint64, job string) (r farm.Result, err error) {
	msg, err := m.stores.results.GetMsg(ctx, seq)
	if err != nil {
		return r, err
	}
	err = errors.New("an entry of RESULTS is damaged")
	eachEntry(msg.Data, func(e entry) {
		if e.key.String() == job && e.kind != kindDiffers {
			err = json.Unmarshal(e.body, &r)
		}
	})
	return r, err
}

// crash records a crash while a file was processed, or sets the file aside after too many. Either is one entry, so that
// a server that is killed hands no file out that it was setting aside.
func (m *Manager) crash(ctx context.Context, r farm.Request, t ticket) (farm.Answer, error) {
	m.mu.Lock()
	b, l := m.holder(t)
	m.mu.Unlock()
	if l == nil {
		return farm.Answer{Verdict: farm.Settled}, nil
	}
	key, _ := keyOf(t.Job.ID)
	log := farm.Clip(r.Log[max(0, len(r.Log)-maxLog):], maxLog)
	crashes := m.markOf(b, key).crashes() + 1
	m.options.Log.Error("crash", "batch", b.ID, "file", t.Job.In.String(), "worker", t.Worker, "crashes", crashes,
		"log", log)
	if crashes < maxCrashes {
		_, err := m.append(ctx, b, kindCrash, key, farm.Result{Job: t.Job, Worker: t.Worker, Key: t.Key, Log: log})
		if err != nil {
			return farm.Answer{}, err
		}
		m.mu.Lock()
		defer m.mu.Unlock()
		m.release(l, m.heartbeatInterval()/2)
		return farm.Answer{Verdict: farm.Settled}, nil
	}
	text := message.Of("the program crashed %d times on this file; set aside", crashes)
	return farm.Answer{Verdict: farm.Settled}, m.settle(ctx, b, farm.Result{
		Job: t.Job, Outcome: farm.Outcome{End: farm.Failed, Sentence: b.say(text)}, Worker: t.Worker, Key: t.Key,
		Crashes: 1, Log: log, Program: t.Program, Model: t.Model,
	})
}

// maxRefused is the number of refused results after which a file counts as failed for good.
const maxRefused = 2

// reject withdraws a result whose files the submitter refused: the job counts as failed. The answer says whether its
// original is needed to hand the job out again.
func (m *Manager) reject(ctx context.Context, r farm.Request) (farm.Answer, error) {
	b, key, err := m.oneOf(r)
	if err != nil {
		return farm.Answer{}, err
	}
	mark := m.markOf(b, key)
	if mark.status() != done {
		return farm.Answer{}, farm.Refuse("this file has no result")
	}
	first, err := m.stored(ctx, mark.seq(), key.String())
	if err != nil {
		return farm.Answer{}, err
	}
	text := message.Of("the result of worker %s was refused: %s", first.Worker, farm.Clip(r.Log, maxText))
	before, err := m.append(ctx, b, kindRefused, key, farm.Result{
		Job: first.Job, Outcome: farm.Outcome{End: farm.Failed, Sentence: b.say(text)}, Worker: first.Worker,
		Key: first.Key, Program: first.Program, Model: first.Model, Ended: time.Now().UTC(), Refused: true,
	})
	if err != nil || before != 0 {
		return farm.Answer{}, err
	}
	m.options.Log.Error("refused", "batch", b.ID, "file", first.Job.In.String(), "worker", first.Worker, "why", r.Log)
	if err := m.removeResults(ctx, first); err != nil {
		m.options.Log.Warn("remove", "file", first.Job.In.String(), "error", err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	var a farm.Answer
	if len(b.refused[key]) < maxRefused {
		a.Need = []string{key.String()}
	}
	return a, nil
}

// oneOf returns the batch and the only job that a request names.
func (m *Manager) oneOf(r farm.Request) (*batch, jobKey, error) {
	b, err := m.find(r.ID)
	if err != nil {
		return nil, jobKey{}, err
	}
	if len(r.Names) != 1 {
		return nil, jobKey{}, errUnreadable()
	}
	key, ok := keyOf(r.Names[0])
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, known := b.jobs[key]; !ok || !known {
		return nil, key, farm.Refuse("batch %s has no such file", b.ID)
	}
	return b, key, nil
}

// again hands out jobs once more: one whose result was refused, to another worker if there is one, or those whose
// results the submitter misses.
func (m *Manager) again(ctx context.Context, r farm.Request, b *batch) (farm.Answer, error) {
	var jobs []farm.Job
	for _, id := range r.Names {
		key, ok := keyOf(id)
		m.mu.Lock()
		mark, times := b.jobs[key], len(b.refused[key])
		m.mu.Unlock()
		free := mark.status() == failed && times > 0 && times < maxRefused || mark.status() == done && !b.Work.Upload
		if !free {
			var err error
			if free, err = m.fetched(ctx, b, key, mark); err != nil {
				return farm.Answer{}, err
			}
		}
		if !ok || !free {
			return farm.Answer{}, farm.Refuse("this file has no result that was refused or is missing")
		}
		old, err := m.stored(ctx, mark.seq(), id)
		if err != nil {
			return farm.Answer{}, err
		}
		jobs = append(jobs, old.Job)
	}
	m.mu.Lock()
	b.Round++ // earlier tickets are void
	copied := b.Batch
	m.mu.Unlock()
	if err := m.keep(ctx, copied); err != nil {
		return farm.Answer{}, err
	}
	for _, job := range jobs {
		key, _ := keyOf(job.ID)
		if _, err := m.append(ctx, b, kindAgain, key, farm.Result{}); err != nil {
			return farm.Answer{}, err
		}
		m.mu.Lock()
		b.queue.putBack(key, job)
		m.mu.Unlock()
	}
	m.wake()
	return farm.Answer{Count: len(jobs)}, nil
}

// control pauses, resumes or cancels a batch or repeats its failures; without an ID it applies to all batches.
func (m *Manager) control(ctx context.Context, r farm.Request) (farm.Answer, error) {
	ids := []string{r.ID}
	if r.ID == "" {
		m.mu.Lock()
		ids = slices.Clone(m.order)
		m.mu.Unlock()
	}
	var a farm.Answer
	for _, id := range ids {
		b, err := m.find(id)
		if err != nil {
			return farm.Answer{}, err
		}
		n, err := m.act(ctx, b, r.Action)
		if err != nil {
			return farm.Answer{}, err
		}
		a.Count += n
	}
	m.wake()
	return a, nil
}

// act applies an action and returns the number of files affected.
func (m *Manager) act(ctx context.Context, b *batch, action string) (int, error) {
	state, ok := map[string]farm.State{
		farm.Pause: farm.Paused, farm.Resume: farm.Running, farm.Cancel: farm.Cancelled, farm.Retry: "",
	}[action]
	if !ok {
		return 0, farm.Refuse("unknown action %q", farm.Clip(action, farm.MaxName))
	}
	m.mu.Lock()
	before := b.State
	left := len(b.jobs) - b.done - b.failed
	if action == farm.Retry && b.failed == 0 || action != farm.Retry && left == 0 {
		m.mu.Unlock()
		return 0, nil
	}
	if action == farm.Retry || before == farm.Cancelled && state != farm.Cancelled {
		// All lists are processed once more, skipping finished jobs. Earlier tickets are void.
		b.next = 0
		b.Round++
	}
	if action != farm.Retry {
		b.State = state
	} else if before == farm.Running {
		b.State = farm.Paused
	}
	copied := b.Batch
	m.mu.Unlock()
	if err := m.keep(ctx, copied); err != nil {
		return 0, err
	}
	m.options.Log.Info(action, "batch", b.ID)
	switch action {
	case farm.Cancel:
		m.mu.Lock()
		defer m.mu.Unlock()
		b.queue = queue{}
		for key, l := range m.leases {
			if l.Job.Batch == b.ID {
				delete(m.leases, key)
			}
		}
		return left, nil
	case farm.Retry:
		return m.retryFailed(ctx, b, before)
	}
	m.wakeFeed()
	return left, nil
}

// retryFailed repeats the failed files of a batch, which is in the given state afterwards. A running batch is paused
// until all of them are marked, so that a crash midway loses none: the batch stays paused.
func (m *Manager) retryFailed(ctx context.Context, b *batch, state farm.State) (int, error) {
	m.mu.Lock()
	var keys []jobKey
	for key, mark := range b.jobs {
		if mark.status() == failed {
			keys = append(keys, key)
			delete(b.refused, key)
		}
	}
	m.mu.Unlock()
	for _, key := range keys {
		if _, err := m.append(ctx, b, kindAgain, key, farm.Result{}); err != nil {
			return 0, err
		}
	}
	m.mu.Lock()
	b.State = state
	copied := b.Batch
	m.mu.Unlock()
	m.wakeFeed()
	return len(keys), m.keep(ctx, copied)
}
