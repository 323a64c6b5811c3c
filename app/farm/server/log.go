package server

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"blik/app/farm"

	"github.com/nats-io/nats.go/jetstream"
)

// The limits of a message of RESULTS.
const (
	maxEntries = 200
	entryBytes = 400 << 10
)

// write is an entry to be written to RESULTS.
type write struct {
	batch *batch
	entry
	// done receives the previous mark of the job once the entry is written.
	done chan written
}

// fits reports whether the entry can follow on the state of a job.
func (w *write) fits(old mark) bool {
	switch w.kind {
	case kindRefused:
		return old.status() == done
	case kindAgain, kindDiffers:
		return old.status() != waiting
	}
	return old.status() == waiting
}

type written struct {
	old mark
	err error
}

// append writes an entry to RESULTS and adds it to the index. If the entry does not fit the state of the job, nothing
// is written, and the mark is that of the job; otherwise it is 0.
func (m *Manager) append(ctx context.Context, b *batch, kind string, key jobKey, body any) (mark, error) {
	if err := m.disk(spaceForResults); err != nil {
		return 0, err
	}
	data, err := json.Marshal(body)
	if err != nil {
		return 0, err
	}
	var took time.Duration
	if r, ok := body.(farm.Result); ok {
		took = time.Duration(r.Seconds * float64(time.Second))
	}
	w := &write{b, entry{kind, key, took, data}, make(chan written, 1)}
	select {
	case m.writes <- w:
	case <-ctx.Done():
		return 0, ctx.Err()
	}
	select {
	case r := <-w.done:
		return r.old, r.err
	case <-ctx.Done():
		return 0, ctx.Err()
	}
}

// write writes to RESULTS. Entries that arrive while the disk is busy are written together.
func (m *Manager) write() {
	var queue []*write
	for {
		if len(queue) == 0 {
			select {
			case w := <-m.writes:
				queue = append(queue, w)
			case <-m.ctx.Done():
				return
			}
		}
		for more := true; more && len(queue) < 4*maxEntries; {
			select {
			case w := <-m.writes:
				queue = append(queue, w)
			default:
				more = false
			}
		}
		queue = m.writeSafely(queue)
	}
}

// writeSafely is writeSome, except that a defect fails the entries and not the server.
func (m *Manager) writeSafely(queue []*write) (left []*write) {
	defer farm.Survive(m.options.Log, "results", func(err error) {
		for _, w := range queue {
			select {
			case w.done <- written{err: err}:
			default: // it was answered before
			}
		}
		left = nil
	})
	return m.writeSome(queue)
}

// writeSome writes entries of one batch, and returns the remaining ones.
func (m *Manager) writeSome(queue []*write) (left []*write) {
	b := queue[0].batch
	var group []*write
	var data []byte
	in := map[jobKey]bool{}
	m.mu.Lock()
	for _, w := range queue {
		old := w.batch.jobs[w.key]
		switch {
		case w.batch != b, in[w.key], len(group) == maxEntries, len(data) > 0 && len(data)+len(w.body) > entryBytes:
			left = append(left, w)
		case !w.fits(old):
			w.done <- written{old: old}
		default:
			in[w.key] = true
			group = append(group, w)
			data = w.appendTo(data)
		}
	}
	m.mu.Unlock()
	if len(group) == 0 {
		return left
	}
	data, err := pack(data)
	if err != nil {
		answer(group, err)
		return left
	}
	// JetStream refuses the message if another manager has written meanwhile.
	ack, err := m.stores.js.Publish(m.ctx, resultsSubject+b.ID, data, jetstream.WithExpectLastSequence(m.last))
	if err != nil {
		answer(group, errors.Join(err, m.resume(err)))
		return left
	}
	now := time.Now()
	m.mu.Lock()
	m.last, m.fault = ack.Sequence, nil
	for _, w := range group {
		b.note(w.entry, ack.Sequence, now)
		if w.kind != kindCrash && w.kind != kindDiffers {
			delete(m.leases, w.key)
			delete(m.tries, w.key)
			delete(m.lost, w.key)
		}
		if w.kind == kindDone {
			m.recent = append(m.recent, now)
			m.latest = append(m.latest, settledJob{b.ID, ack.Sequence, w.key})
			m.latest = m.latest[max(0, len(m.latest)-keptLatest):]
		}
	}
	if len(m.recent) > 1<<16 {
		m.recent = slices.Delete(m.recent, 0, 1<<15)
	}
	m.mu.Unlock()
	answer(group, nil)
	return left
}

func answer(group []*write, err error) {
	for _, w := range group {
		w.done <- written{err: err}
	}
}

// resume determines whether an unacknowledged message was written: if RESULTS has grown, it is read from the end of the
// index.
func (m *Manager) resume(cause error) error {
	info, err := m.stores.results.Info(m.ctx)
	if err != nil {
		return err
	}
	for seq := m.last + 1; seq <= info.State.LastSeq; seq++ {
		msg, err := m.stores.results.GetMsg(m.ctx, seq)
		gone := errors.Is(err, jetstream.ErrMsgNotFound) // of a batch that was removed
		if err != nil && !gone {
			return err
		}
		m.mu.Lock()
		if !gone {
			if b := m.batches[msg.Subject[len(resultsSubject):]]; b != nil {
				eachEntry(msg.Data, func(e entry) { b.note(e, seq, msg.Time) })
			}
		}
		m.last = seq
		m.mu.Unlock()
	}
	if api, ok := errors.AsType[*jetstream.APIError](cause); ok && api.ErrorCode == wrongSequence {
		m.options.Log.Warn("another manager writes to this farm, or an answer was lost")
	}
	return nil
}
