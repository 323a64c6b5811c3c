package server

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"blik/app/farm"
	"blik/internal/message"
)

// Jobs are given to workers on lease. The worker gets a ticket, which it shows with every request about the job: a copy
// of the job, signed by the manager. What a worker says about the job itself is not used. A manager that has restarted
// recognises the tickets of its predecessor.

// ticket is the content of a ticket.
type ticket struct {
	Job farm.Job `json:"job"`
	// Round is that of the batch, Nonce identifies this lease of the job.
	Round int    `json:"round,omitempty"`
	Nonce string `json:"nonce"`
	// Key is the public half of the worker's key, empty without keys, and Worker the name of the worker.
	Key     string `json:"key,omitempty"`
	Worker  string `json:"worker"`
	Program string `json:"program"`
	Model   string `json:"model"`
	// Issued is when the job was taken, on the server's clock.
	Issued time.Time `json:"issued"`
}

// sign returns the text of a ticket.
func (m *Manager) sign(t ticket) (string, error) {
	data, err := json.Marshal(t)
	if err != nil {
		return "", err
	}
	text := base64.RawURLEncoding.EncodeToString(data)
	return text + "." + base64.RawURLEncoding.EncodeToString(m.signature(text)), nil
}

func (m *Manager) signature(text string) []byte {
	h := hmac.New(sha256.New, m.secret)
	h.Write([]byte(text))
	return h.Sum(nil)
}

// ticketOf returns the ticket of a request, if this manager or an earlier one issued it to the sender.
func (m *Manager) ticketOf(r farm.Request) (t ticket, err error) {
	none := farm.Refuse("this worker does not hold this file")
	text, sum, found := strings.Cut(r.Ticket, ".")
	got, err := base64.RawURLEncoding.DecodeString(sum)
	if !found || err != nil || !hmac.Equal(got, m.signature(text)) {
		return t, none
	}
	data, err := base64.RawURLEncoding.DecodeString(text)
	if err == nil {
		err = json.Unmarshal(data, &t)
	}
	if err != nil || t.Key != r.Key {
		return t, none
	}
	return t, nil
}

// lease is a job that a worker holds until a time, unless it renews it. Nobody holds a job that was given back; it is
// queued at that time.
type lease struct {
	ticket
	until    time.Time
	returned bool
	// room is the size of results that may be stored.
	room int64
}

// queue holds the jobs of a batch that workers may take.
type queue struct {
	ready  []farm.Job
	queued map[jobKey]bool
}

// add queues a job behind the others.
func (q *queue) add(key jobKey, job farm.Job) { q.insert(len(q.ready), key, job) }

// putBack queues a job that was held before the others.
func (q *queue) putBack(key jobKey, job farm.Job) { q.insert(0, key, job) }

func (q *queue) insert(at int, key jobKey, job farm.Job) {
	if q.queued == nil {
		q.queued = map[jobKey]bool{}
	}
	if !q.queued[key] {
		q.queued[key] = true
		q.ready = slices.Insert(q.ready, at, job)
	}
}

// assign gives a worker the first waiting job that it can process.
func (m *Manager) assign(_ context.Context, r farm.Request) (farm.Answer, error) {
	w := r.Worker
	if w == nil || w.Name == "" {
		return farm.Answer{}, errUnreadable()
	}
	clipHeartbeat(w)
	m.mu.Lock()
	defer m.mu.Unlock()
	now := time.Now()
	a := farm.Answer{Wait: m.heartbeatInterval()}
	if now.Before(m.opens) {
		return a, nil
	}
	for _, id := range m.order {
		b := m.batches[id]
		if b.State != farm.Running || r.Only != "" && r.Only != id || b.done+b.failed == len(b.jobs) {
			continue
		}
		if remark := unsuitable(b, r); remark != nil {
			a.Remark = remark
			continue
		}
		for i := 0; i < len(b.queue.ready); i++ {
			job := b.queue.ready[i]
			key, _ := keyOf(job.ID)
			gone := m.leases[key] != nil || b.jobs[key].status() != waiting
			if !gone && m.refusedFrom(b, key, r) {
				continue
			}
			b.queue.ready = slices.Delete(b.queue.ready, i, i+1)
			delete(b.queue.queued, key)
			if gone {
				i--
				continue
			}
			if len(b.queue.ready) < ahead/2 {
				m.wakeFeed()
			}
			return m.lend(b, key, job, r)
		}
		m.wakeFeed()
	}
	return a, nil
}

// unsuitable returns the reason why a worker cannot process the files of a batch; nil if it can.
func unsuitable(b *batch, r farm.Request) *farm.Refusal {
	switch {
	case b.Program != r.Worker.Program:
		return farm.Refuse("skipping batch %s: it was submitted with Blik %s, this is %s", b.ID, b.Program,
			r.Worker.Program)
	case b.Model != r.Worker.Model:
		return farm.Refuse("skipping batch %s: it uses another network", b.ID)
	case !b.Work.Upload && !r.Shared:
		return farm.Refuse("skipping batch %s: its files are in a shared folder, and none is given here (--root, "+
			"--output-root)", b.ID)
	}
	return nil
}

// refusedFrom reports whether a job is left to others, because the submitter refused the result of this worker.
func (m *Manager) refusedFrom(b *batch, key jobKey, r farm.Request) bool {
	by := b.refused[key]
	if !slices.Contains(by, identity(r.Key, r.Worker.Name)) {
		return false
	}
	for _, w := range m.workers {
		if !slices.Contains(by, identity(w.key, w.Name)) && time.Since(w.Seen) < vanished &&
			w.Program == b.Program && w.Model == b.Model {
			return true
		}
	}
	return false
}

// identity is the key of a worker, or its name where there are no keys.
func identity(key, name string) string {
	if key != "" {
		return key
	}
	return "name " + name
}

// lend leases a job; mu must be held.
func (m *Manager) lend(b *batch, key jobKey, job farm.Job, r farm.Request) (farm.Answer, error) {
	t := ticket{
		Job: job, Round: b.Round, Nonce: rand.Text(), Key: r.Key, Worker: r.Worker.Name, Program: r.Worker.Program,
		Model: r.Worker.Model, Issued: time.Now(),
	}
	text, err := m.sign(t)
	if err != nil {
		return farm.Answer{}, err
	}
	m.leases[key] = &lease{ticket: t, until: t.Issued.Add(m.options.Patience)}
	tries := m.tries[key] + 1
	if b.inherited > 0 {
		// It may have been in work when the server ended.
		b.inherited--
		tries++
	}
	m.tries[key] = tries
	work := b.Work
	return farm.Answer{
		Verdict: farm.Proceed, Job: &job, Work: &work, Ticket: text, Delivered: tries, Every: m.heartbeatInterval(),
	}, nil
}

// holder returns the batch of a ticket and its lease. Without a lease, the worker no longer holds the job, or the job
// is settled. A worker keeps the job even if it was silent for too long, or if the manager has restarted, unless
// another worker has taken it; mu must be held.
func (m *Manager) holder(t ticket) (*batch, *lease) {
	b := m.batches[t.Job.Batch]
	key, ok := keyOf(t.Job.ID)
	if b == nil || !ok {
		return nil, nil
	}
	mark, known := b.jobs[key]
	if !known || mark.status() != waiting || b.State == farm.Cancelled {
		return b, nil
	}
	l := m.leases[key]
	if l == nil && t.Round == b.Round {
		l = &lease{ticket: t}
		m.leases[key] = l
	}
	if l == nil || l.Nonce != t.Nonce || l.returned {
		return b, nil
	}
	l.until = time.Now().Add(m.options.Patience)
	return b, l
}

// renew prolongs a lease.
func (m *Manager) renew(_ context.Context, _ farm.Request, t ticket) (farm.Answer, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, l := m.holder(t); l == nil {
		return farm.Answer{Verdict: farm.Settled}, nil
	}
	return farm.Answer{Verdict: farm.Proceed}, nil
}

// maxWait bounds the time for which a worker may keep a job from others after giving it back.
const maxWait = time.Minute

// back returns a job to the queue.
func (m *Manager) back(_ context.Context, r farm.Request, t ticket) (farm.Answer, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, l := m.holder(t); l != nil {
		m.release(l, min(max(r.Wait, 0), maxWait))
	}
	return farm.Answer{Verdict: farm.Settled}, nil
}

// release ends a lease. The job is queued after a while, until which nobody gets it; mu must be held.
func (m *Manager) release(l *lease, wait time.Duration) {
	l.returned, l.until = true, time.Now().Add(wait)
	m.wakeFeed()
}

// expire queues the jobs that workers gave back and those of silent workers. A file with which many workers vanished is
// set aside.
func (m *Manager) expire(ctx context.Context) {
	type set struct {
		b *batch
		lease
		lost int
	}
	var aside []set
	var queued bool
	now := time.Now()
	m.mu.Lock()
	for key, l := range m.leases {
		if now.Before(l.until) {
			continue
		}
		delete(m.leases, key)
		b := m.batches[l.Job.Batch]
		if b == nil || b.jobs[key].status() != waiting || b.State == farm.Cancelled {
			continue
		}
		if !l.returned {
			m.lost[key]++
			m.options.Log.Warn("silent", "worker", l.Worker, "batch", b.ID, "file", l.Job.In.String())
			if m.lost[key] >= maxLost {
				aside = append(aside, set{b, *l, m.lost[key]})
				continue
			}
		}
		b.queue.putBack(key, l.Job)
		queued = true
	}
	m.mu.Unlock()
	if queued {
		m.wake()
	}
	for _, s := range aside {
		text := message.Of("%d workers disappeared while processing this file; set aside", s.lost)
		err := m.settle(ctx, s.b, farm.Result{
			Job: s.Job, Outcome: farm.Outcome{End: farm.Failed, Sentence: s.b.say(text)}, Worker: s.Worker, Key: s.Key,
		})
		if err != nil {
			m.options.Log.Error("set aside", "file", s.Job.In.String(), "error", err)
			m.mu.Lock()
			key, _ := keyOf(s.Job.ID)
			s.b.queue.putBack(key, s.Job)
			m.mu.Unlock()
		}
	}
}
