package server

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"blik/app/farm"
	"blik/app/i18n"
)

// report reports a result for a ticket.
func (s *site) report(ticket, sum string) farm.Answer {
	s.t.Helper()
	a, err := onTicket(s.manager, s.manager.result)(s.t.Context(), farm.Request{
		Ticket: ticket, Result: &farm.Report{Outcome: farm.Outcome{End: farm.Done, SHA256: sum}, Seconds: 1e300},
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return a
}

// The time that a file took does not depend on the clock of the server, which may be set meanwhile.
func TestClockIsSet(t *testing.T) {
	t.Parallel()
	s := newSite(t, 1)
	id := s.submit(s.batch(), "").Batch.ID
	own, err := s.manager.ticketOf(farm.Request{Ticket: s.takeAs("a").Ticket})
	if err != nil {
		t.Fatal(err)
	}
	own.Issued = time.Now().Add(time.Hour)
	text, err := s.manager.sign(own)
	if err != nil {
		t.Fatal(err)
	}
	s.report(text, "a")
	_, err = s.client.Results(t.Context(), id, 0, func(r farm.Result) error {
		if r.Seconds <= 0 || r.Seconds > 60 {
			t.Errorf("it took %v s", r.Seconds)
		}
		return nil
	})
	if err != nil || s.manager.Status(id, 0).Batches[0].Done != 1 {
		t.Error(err)
	}
}

// Only the holder of a job reports on it. A second result of an earlier holder that differs is shown to the user, also
// after a restart; the first counts.
func TestSecondResult(t *testing.T) {
	t.Parallel()
	s := newSite(t, 1)
	id := s.submit(s.batch(), "").Batch.ID
	first := s.takeAs("first")
	key, _ := keyOf(first.Job.ID)
	s.manager.mu.Lock()
	s.manager.leases[key].until = time.Now()
	s.manager.mu.Unlock()
	second := s.takeAs("second")
	if second.Delivered != 2 {
		t.Errorf("%+v", second)
	}
	// The first worker has lost the job: its result does not count, and it cannot renew.
	s.report(first.Ticket, "a")
	if a, err := onTicket(s.manager, s.manager.renew)(t.Context(), farm.Request{Ticket: first.Ticket}); err != nil || a.Verdict != farm.Settled {
		t.Errorf("%+v, %v", a, err)
	}
	if b := s.manager.Status(id, 0).Batches[0]; b.Done != 0 || b.Working != 1 {
		t.Errorf("%+v", b)
	}
	s.report(second.Ticket, "b")
	s.report(second.Ticket, "b") // its answer was lost
	if b := s.manager.Status(id, 0).Batches[0]; b.Done != 1 || len(b.Conflicts) != 0 {
		t.Errorf("%+v", b)
	}
	s.report(first.Ticket, "b") // late, and equal
	for range 2 {
		s.report(first.Ticket, "a") // late, and different
	}
	for range 2 {
		st, err := s.client.Status(t.Context(), id, 0)
		if err != nil {
			t.Fatal(err)
		}
		b := st.Batches[0]
		if b.Done != 1 || len(b.Conflicts) != 1 || b.Conflicts[0] != (farm.Conflict{File: first.Job.In.String(), Worker: "second", SHA256: "b", Other: "first", OtherSHA256: "a"}) {
			t.Errorf("%+v", b)
		}
		if b.Seconds > 60 {
			t.Errorf("%g seconds", b.Seconds)
		}
		s.stop()
		s.start(Options{})
	}
	page, err := s.manager.StartPage(PageOptions{Listen: "127.0.0.1:0", Printer: i18n.For("en")})
	if err != nil {
		t.Fatal(err)
	}
	defer page.Close()
	if status, text := get(t, page.URL(), nil); status != http.StatusOK || !strings.Contains(text, "two workers delivered different results") {
		t.Errorf("%d, %s", status, text)
	}
}

// A ticket is worth nothing with another key.
func TestTicketOfAnotherKey(t *testing.T) {
	t.Parallel()
	s := newSite(t, 1)
	s.submit(s.batch(), "")
	w := &farm.Heartbeat{Name: "w", Program: "1", Model: "m"}
	var a farm.Answer
	s.until(func() bool {
		var err error
		if a, err = s.manager.assign(t.Context(), farm.Request{Worker: w, Shared: true, Key: "own"}); err != nil {
			t.Fatal(err)
		}
		return a.Job != nil
	})
	for name, handle := range s.manager.handlers() {
		if !strings.HasPrefix(name, farm.WorkPrefix) || name == farm.WorkHello || name == farm.WorkTake {
			continue
		}
		r := farm.Request{Ticket: a.Ticket, Result: &farm.Report{Outcome: farm.Outcome{End: farm.Failed}}, Key: "other"}
		var no *farm.Refusal
		if _, err := handle(t.Context(), r); !errors.As(err, &no) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if got, err := onTicket(s.manager, s.manager.renew)(t.Context(), farm.Request{Ticket: a.Ticket, Key: "own"}); err != nil || got.Verdict != farm.Proceed {
		t.Errorf("%+v, %v", got, err)
	}
}

// A worker keeps its job over a restart of the server, and nobody else gets it.
func TestLeaseOutlivesTheServer(t *testing.T) {
	t.Parallel()
	s := newSite(t, 1)
	id := s.submit(s.batch(), "").Batch.ID
	a := s.takeAs("steady")
	s.stop()
	s.start(Options{})
	if a, err := onTicket(s.manager, s.manager.renew)(t.Context(), farm.Request{Ticket: a.Ticket}); err != nil || a.Verdict != farm.Proceed {
		t.Fatalf("%+v, %v", a, err)
	}
	s.manager.opens = time.Time{}
	s.manager.feedAll()
	other, err := s.manager.assign(t.Context(), farm.Request{Worker: &farm.Heartbeat{Name: "x", Program: "1", Model: "m"}, Shared: true})
	if err != nil || other.Job != nil {
		t.Errorf("%+v, %v", other, err)
	}
	s.report(a.Ticket, "a")
	if b := s.manager.Status(id, 0).Batches[0]; b.Done != 1 {
		t.Errorf("%+v", b)
	}
	// After a retry, a ticket from before it is worth nothing.
	s.put("more.tif")
	s.submit(s.batch(), "")
	bad := s.takeAs("spoiler")
	fail := farm.Request{Ticket: bad.Ticket, Result: &farm.Report{Outcome: farm.Outcome{End: farm.Failed}}}
	if _, err := onTicket(s.manager, s.manager.result)(t.Context(), fail); err != nil {
		t.Fatal(err)
	}
	if n, err := s.client.Control(t.Context(), id, farm.Retry); n != 1 || err != nil {
		t.Fatal(n, err)
	}
	if a, err := onTicket(s.manager, s.manager.result)(t.Context(), fail); err != nil || a.Verdict != farm.Settled {
		t.Errorf("%+v, %v", a, err)
	}
	if b := s.manager.Status(id, 0).Batches[0]; b.Failed != 0 {
		t.Errorf("an old ticket spoils a file: %+v", b)
	}
}

// A paused or cancelled batch stays so when its failed files are repeated; resumed, it processes all that waits.
func TestRetryStays(t *testing.T) {
	t.Parallel()
	for action, state := range map[string]farm.State{farm.Pause: farm.Paused, farm.Cancel: farm.Cancelled} {
		s := newSite(t, 3)
		r := &stub{do: func(context.Context, farm.Task, int) (farm.Outcome, error) {
			return farm.Outcome{End: farm.Failed, Sentence: "broken"}, nil
		}}
		id := s.submit(s.batch(), "").Batch.ID
		stop := s.work("a", r, nil)
		s.wait(id)
		stop()
		s.put("more.tif")
		s.submit(s.batch(), "")
		for _, step := range []struct {
			action string
			want   farm.State
		}{{action, state}, {farm.Retry, state}, {farm.Pause, farm.Paused}, {farm.Resume, farm.Running}} {
			_, err := s.client.Control(t.Context(), id, step.action)
			if b := s.manager.Status(id, 0).Batches[0]; err != nil || b.State != step.want || b.Failed > 0 && step.action != action {
				t.Errorf("%s, %s: %v, %+v", action, step.action, err, b)
			}
		}
		r.do = nil
		defer s.work("b", r, nil)()
		if end := s.wait(id); end.Done != 4 || end.Failed != 0 {
			t.Errorf("%s: %+v", action, end)
		}
	}
}

// suspicious is a Checker that refuses everything.
type suspicious struct{ lenient }

func (suspicious) Check(context.Context, string, string, []string) error {
	return &farm.Suspicion{Err: errors.New("it lies")}
}

// stingy is a Checker that expects small files.
type stingy struct{ lenient }

func (stingy) MaxBytes(string) int64 { return 100 }

// No worker fills the disk of the submitter: a result that is too large is refused before all of it is there.
func TestTooLargeResult(t *testing.T) {
	t.Parallel()
	s := newSite(t, 0)
	uploads(t, s.in, 1000)
	sub := s.send(s.names(), nil)
	s.work("liar", reverser(), func(o *farm.WorkerOptions) { o.Roots, o.Scratch = nil, t.TempDir() })
	done := make(chan struct{})
	close(done)
	var said []string
	o := s.collection(stingy{}, func(err error) { said = append(said, err.Error()) })
	got, err := s.client.Collect(t.Context(), sub.Batch.ID, o, done)
	if err != nil || got.Files != 0 || !strings.Contains(strings.Join(said, "\n"), "it is too large") {
		t.Errorf("%+v, %v, %q", got, err, said)
	}
	if b := s.manager.Status(sub.Batch.ID, 0).Batches[0]; b.Failed != 1 {
		t.Errorf("%+v", b)
	}
}

// A result that the submitter refuses counts as failed and is handed out again; after two such results the file fails, and
// nothing has got a name.
func TestRefusedResult(t *testing.T) {
	t.Parallel()
	s := newSite(t, 0)
	uploads(t, s.in, 1000, 2000)
	sub := s.send(s.names(), nil)
	r := reverser()
	s.work("liar", r, func(o *farm.WorkerOptions) { o.Roots, o.Scratch = nil, t.TempDir() })
	done := make(chan struct{})
	close(done)
	var said []string
	o := s.collection(suspicious{}, func(err error) { said = append(said, err.Error()) })
	if _, err := s.client.Collect(t.Context(), sub.Batch.ID, o, done); err != nil {
		t.Fatal(err)
	}
	b := s.manager.Status(sub.Batch.ID, 10).Batches[0]
	if b.Done != 0 || b.Failed != 2 || r.count("000.tif") != 2 || r.count("001.tif") != 2 {
		t.Errorf("%+v, %v", b, r.runs)
	}
	for _, f := range b.Failures {
		if f.Reason != "the result of worker liar was refused: it lies" {
			t.Errorf("%+v", f)
		}
	}
	if e, err := os.ReadDir(s.out); err != nil || len(e) != 0 {
		t.Errorf("%v, %v", e, err)
	}
	// The server has removed their originals.
	failed := []string{b.Failures[0].Job}
	if err := s.client.Again(t.Context(), sub.Batch.ID, failed, nil); err == nil || !strings.Contains(err.Error(), "no result") {
		t.Errorf("once more: %v", err)
	}
	if n := s.stored(); n > 5000 {
		t.Errorf("the object store still holds %d bytes", n)
	}
	// An original that changes meanwhile is not the worker's fault.
	if err := os.WriteFile(filepath.Join(s.in, "002.tif"), []byte("before"), 0o644); err != nil {
		t.Fatal(err)
	}
	more := s.send([]string{"002.tif"}, nil)
	s.until(func() bool { return s.manager.Status(more.Batch.ID, 0).Batches[0].Done == 1 })
	if err := os.WriteFile(filepath.Join(s.in, "002.tif"), []byte("after"), 0o644); err != nil {
		t.Fatal(err)
	}
	said = nil
	got, err := s.client.Collect(t.Context(), more.Batch.ID, o, done)
	if err != nil || got.Failed != 1 || !strings.Contains(strings.Join(said, "\n"), "the original has changed") {
		t.Errorf("%+v, %v, %v", got, err, said)
	}
}

// A status is cut until it fits into a message.
func TestStatusFits(t *testing.T) {
	t.Parallel()
	var s farm.Status
	for range 50 {
		b := farm.BatchStatus{Failures: make([]farm.Failure, 100)}
		for i := range b.Failures {
			b.Failures[i].Log = strings.Repeat("x", maxLog)
		}
		s.Batches, s.Workers = append(s.Batches, b), append(s.Workers, farm.Heartbeat{Remark: strings.Repeat("y", maxText)})
	}
	fit(&s, maxAnswer)
	data, err := json.Marshal(s)
	if err != nil || len(data) > maxAnswer || len(s.Batches) != 50 || len(s.Workers) != 50 {
		t.Errorf("%d bytes, %v, %d batches", len(data), err, len(s.Batches))
	}
	fit(&s, 10000)
	if data, err = json.Marshal(s); err != nil || len(data) > 10000 {
		t.Errorf("%d bytes, %v", len(data), err)
	}
}
