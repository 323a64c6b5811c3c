package server

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"blik/app/farm"

	"github.com/nats-io/nats.go/jetstream"
)

// ratePeriod is the period over which the rate is measured.
const ratePeriod = time.Minute

func (m *Manager) status(_ context.Context, r farm.Request) (farm.Answer, error) {
	if r.Failures < 0 {
		return farm.Answer{}, farm.Refuse("%d failures cannot be listed", r.Failures)
	}
	s := m.Status(r.ID, min(r.Failures, maxFailuresListed))
	fit(&s, maxAnswer)
	return farm.Answer{Status: &s}, nil
}

// fit drops details until the status fits into a message.
func fit(s *farm.Status, limit int) {
	for {
		data, err := json.Marshal(s)
		if err != nil || len(data) <= limit-1000 {
			return
		}
		longest := 0
		for i := range s.Batches {
			b := &s.Batches[i]
			longest = max(longest, len(b.Failures))
			b.Failures = b.Failures[:len(b.Failures)/2]
			b.Conflicts = b.Conflicts[:len(b.Conflicts)/2]
		}
		if longest > 0 {
			continue
		}
		s.Workers = s.Workers[:len(s.Workers)/2]
		if len(s.Workers) == 0 {
			s.Batches = s.Batches[len(s.Batches)/2:]
		}
	}
}

// Status returns the status of one batch or, without an ID, of all, each with its first failures.
func (m *Manager) Status(id string, failures int) farm.Status {
	failures = max(failures, 0)
	stored, full := m.streamBytes(), m.disk(spaceForWork)
	m.mu.Lock()
	defer m.mu.Unlock()
	now := time.Now()
	s := farm.Status{Started: m.started, Now: now, Cause: m.fault, Stored: stored, Batches: []farm.BatchStatus{},
		Workers: []farm.Heartbeat{}}
	if s.Cause == nil {
		s.Cause, _ = errors.AsType[*farm.Refusal](full)
	}
	if s.Cause != nil {
		s.Fault = s.Cause.Error()
	}
	for name, w := range m.workers {
		if now.Sub(w.Seen) > vanished {
			delete(m.workers, name)
			continue
		}
		s.Workers = append(s.Workers, w.Heartbeat)
	}
	slices.SortFunc(s.Workers, func(a, b farm.Heartbeat) int { return strings.Compare(a.Name, b.Name) })
	working := map[string]int{}
	for _, l := range m.leases {
		if !l.returned {
			working[l.Job.Batch]++
		}
	}
	cut := slices.IndexFunc(m.recent, func(t time.Time) bool { return now.Sub(t) < ratePeriod })
	if cut >= 0 {
		span := min(ratePeriod, max(now.Sub(m.recent[cut]), time.Second), max(now.Sub(m.started), time.Second))
		s.Rate = float64(len(m.recent)-cut) / span.Seconds()
	}
	waits := 0.0
	for _, name := range m.order {
		b := m.batches[name]
		if id != "" && id != name {
			continue
		}
		st := farm.BatchStatus{
			ID: name, Command: b.Work.Command, Program: b.Program, Model: b.Model, State: b.State, Created: b.Created,
			Last: b.last, Files: len(b.jobs), Done: b.done, Failed: b.failed, Working: working[name],
			Conflicts: slices.Clone(b.conflicts),
		}
		st.Waiting = max(0, st.Files-st.Done-st.Failed-st.Working)
		if b.done > 0 {
			st.Seconds = b.work / float64(b.done)
		}
		if b.State == farm.Running && s.Rate > 0 {
			waits += float64(st.Waiting + st.Working)
			st.Left = waits / s.Rate
		}
		for _, f := range b.failures[:min(failures, len(b.failures))] {
			st.Failures = append(st.Failures, farm.Failure{
				Job: f.Job.ID, File: f.Job.In.String(), Reason: f.Sentence, Worker: f.Worker, Log: f.Log,
			})
		}
		s.Batches = append(s.Batches, st)
	}
	return s
}

// streamBytes returns the size of the streams.
func (m *Manager) streamBytes() int64 {
	ctx, cancel := context.WithTimeout(m.ctx, time.Second)
	defer cancel()
	account, err := m.stores.js.AccountInfo(ctx)
	if err != nil {
		return 0
	}
	return int64(account.Store)
}

// maxListed bounds the results in one answer, so that it fits into a message.
const maxListed = 200

// listJobs returns the results of a batch from a number on, to be collected or listed.
func (m *Manager) listJobs(ctx context.Context, r farm.Request, b *batch) (farm.Answer, error) {
	if r.Delivered < 0 {
		return farm.Answer{}, farm.Refuse("results cannot be listed from number %d on", r.Delivered)
	}
	m.mu.Lock()
	last := m.last // of the index
	m.mu.Unlock()
	var a farm.Answer
	size := 0
	// All results of one message are returned together, because the next request continues after the message.
	for seq := uint64(r.Delivered) + 1; len(a.Jobs) < maxListed && size <= maxAnswer-2*entryBytes; seq++ {
		msg, err := m.stores.results.GetMsg(ctx, seq, jetstream.WithGetMsgSubject(resultsSubject+b.ID))
		if errors.Is(err, jetstream.ErrMsgNotFound) || err == nil && msg.Sequence > last {
			break
		}
		if err != nil {
			return a, err
		}
		seq = msg.Sequence
		eachEntry(msg.Data, func(e entry) {
			if mark := m.markOf(b, e.key); mark.status() == waiting || mark.seq() != seq || e.kind == kindDiffers {
				return // a later one counts
			}
			var result farm.Result
			if e := json.Unmarshal(e.body, &result); e != nil {
				err = e
			}
			size += len(e.body)
			a.Jobs, a.Count = append(a.Jobs, result), int(seq)
		})
		if err != nil {
			return a, err
		}
	}
	return a, nil
}
