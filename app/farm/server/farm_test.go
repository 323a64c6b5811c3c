package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"blik/app/farm"
)

func quiet() *slog.Logger { return slog.New(slog.NewTextHandler(io.Discard, nil)) }

// stub is a Runner in this process.
type stub struct {
	mu   sync.Mutex
	runs map[string]int
	do   func(ctx context.Context, t farm.Task, run int) (farm.Outcome, error)
}

func (s *stub) Run(ctx context.Context, t farm.Task) (farm.Outcome, error) {
	s.mu.Lock()
	if s.runs == nil {
		s.runs = map[string]int{}
	}
	name := filepath.Base(t.Input)
	s.runs[name]++
	run := s.runs[name]
	s.mu.Unlock()
	if s.do != nil {
		return s.do(ctx, t, run)
	}
	return farm.Outcome{End: farm.Done, SHA256: "of " + name}, nil
}

func (s *stub) count(name string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.runs[name]
}

// site is a farm in a test.
type site struct {
	t       testing.TB
	dir     string
	in, out string
	server  *Server
	manager *Manager
	client  *farm.Client
	keep    time.Duration
	log     *slog.Logger // nil: none
}

func newSite(t testing.TB, files int) *site {
	t.Helper()
	s := &site{t: t, dir: t.TempDir()}
	s.in, s.out = filepath.Join(s.dir, "in"), filepath.Join(s.dir, "out")
	for _, dir := range []string{s.in, s.out} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for i := range files {
		s.put(fmt.Sprintf("%03d.tif", i))
	}
	s.start(Options{})
	t.Cleanup(func() { s.stop() })
	return s
}

func (s *site) put(name string) {
	s.t.Helper()
	if err := os.WriteFile(filepath.Join(s.in, name), []byte(name), 0o644); err != nil {
		s.t.Fatal(err)
	}
}

func (s *site) start(o Options) {
	s.t.Helper()
	log := s.log
	if log == nil {
		log = quiet()
	}
	o.Store, o.Log = filepath.Join(s.dir, "store"), log
	var err error
	if s.server, err = Start(s.t.Context(), o); err != nil {
		s.t.Fatal(err)
	}
	s.manager, err = StartManager(s.t.Context(),
		ManagerOptions{Embedded: s.server, Patience: 500 * time.Millisecond, Keep: s.keep, Log: log})
	if err != nil {
		s.t.Fatal(err)
	}
	if s.client, err = farm.Dial(s.t.Context(), farm.Join{}, s.server); err != nil {
		s.t.Fatal(err)
	}
}

func (s *site) stop() {
	if s.client != nil {
		s.client.Close()
		s.manager.Close()
		s.server.Close()
		s.client = nil
	}
}

func (s *site) roots() farm.Roots { return farm.Roots{{Folder: s.in}, {Folder: s.out, Write: true}} }

func (s *site) batch() farm.Batch {
	return farm.Batch{Work: farm.Work{Command: "correct", Preset: json.RawMessage("{}"), Limit: 1000}, Program: "1", Model: "m"}
}

// until waits for a condition.
func (s *site) until(ready func() bool) {
	s.t.Helper()
	patience := time.After(time.Minute)
	for tick := time.NewTicker(2 * time.Millisecond); !ready(); {
		select {
		case <-tick.C:
		case <-patience:
			s.t.Fatalf("it does not come: %+v", s.manager.Status("", 10))
		}
	}
}

// submit adds all files of the folder.
func (s *site) submit(b farm.Batch, again string) farm.Submission {
	s.t.Helper()
	return s.submitTelling(b, again, nil)
}

// submitTelling calls told with the reason for which it waits.
func (s *site) submitTelling(b farm.Batch, again string, told func(error)) farm.Submission {
	s.t.Helper()
	entries, err := os.ReadDir(s.in)
	if err != nil {
		s.t.Fatal(err)
	}
	next := func() (farm.Job, bool) {
		if len(entries) == 0 {
			return farm.Job{}, false
		}
		name := entries[0].Name()
		entries = entries[1:]
		job, err := s.roots().NewJob(filepath.Join(s.in, name), s.out)
		if err != nil {
			s.t.Fatal(err)
		}
		return job, true
	}
	b, err = s.client.Open(s.t.Context(), b, again, told)
	if err != nil {
		s.t.Fatal(err)
	}
	sub, err := s.client.Add(s.t.Context(), b, next, told)
	if err != nil {
		s.t.Fatal(err)
	}
	return sub
}

// work starts a worker in this process.
func (s *site) work(name string, r farm.Runner, change func(*farm.WorkerOptions)) (stop func()) {
	ctx, cancel := context.WithCancel(s.t.Context())
	o := farm.WorkerOptions{
		Embedded: s.server, Name: name, Program: "1", Model: "m", Slots: []farm.Slot{{Device: "cpu", Threads: 1}}, Roots: s.roots(), Runner: r,
		Log: quiet(),
	}
	if change != nil {
		change(&o)
	}
	done := make(chan error, 1)
	go func() { done <- farm.RunWorker(ctx, o) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil && !errors.Is(err, context.Canceled) {
			s.t.Errorf("worker %s: %v", name, err)
		}
	})
	s.t.Cleanup(stop)
	return stop
}

// wait returns the end of a batch.
func (s *site) wait(id string) farm.BatchStatus {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), 2*time.Minute)
	defer cancel()
	end, err := s.client.Wait(ctx, id, 5*time.Millisecond, func(farm.BatchStatus, farm.Status) {}, func(error) {})
	if err != nil {
		st, _ := s.client.Status(s.t.Context(), id, 10)
		s.t.Fatalf("%v: %+v", err, st)
	}
	return end
}

// Every picture gets one result, even if it is submitted again and the server restarts.
func TestEachOnce(t *testing.T) {
	t.Parallel()
	s := newSite(t, 20)
	sub := s.submit(s.batch(), "")
	if sub.Added != 20 || sub.Known != 0 {
		t.Fatalf("submitted: %+v", sub)
	}
	r := &stub{}
	stop := s.work("a", r, nil)
	s.work("b", r, nil)
	if end := s.wait(sub.Batch.ID); end.Done != 20 || end.Failed != 0 {
		t.Fatalf("the end: %+v", end)
	}
	for i := range 20 {
		if n := r.count(fmt.Sprintf("%03d.tif", i)); n != 1 {
			t.Errorf("file %d was done %d times", i, n)
		}
	}
	stop()
	s.put("new.tif")
	if again := s.submit(s.batch(), ""); again.Added != 1 || again.Ready != 20 || again.Batch.ID != sub.Batch.ID {
		t.Errorf("submitted again: %+v", again)
	}
	if end := s.wait(sub.Batch.ID); end.Done != 21 {
		t.Errorf("with a new file: %+v", end)
	}
	var results []farm.Result
	if _, err := s.client.Results(t.Context(), sub.Batch.ID, 0, func(r farm.Result) error {
		results = append(results, r)
		return nil
	}); err != nil || len(results) != 21 {
		t.Fatalf("%d results, %v", len(results), err)
	}
	if x := results[0]; x.SHA256 != "of "+filepath.Base(x.Job.In.Path) || x.Program != "1" || x.Model != "m" || x.Ended.IsZero() {
		t.Errorf("a result: %+v", x)
	}
}

// The index is the same after a restart of the server.
func TestRestart(t *testing.T) {
	t.Parallel()
	s := newSite(t, 5)
	bad := errors.New("broken")
	r := &stub{do: func(_ context.Context, t farm.Task, _ int) (farm.Outcome, error) {
		if strings.HasSuffix(t.Input, "003.tif") {
			return farm.Outcome{}, bad
		}
		return farm.Outcome{End: farm.Done, SHA256: "x"}, nil
	}}
	sub := s.submit(s.batch(), "")
	stop := s.work("a", r, nil)
	before := s.wait(sub.Batch.ID)
	stop()
	s.stop()
	s.start(Options{})
	st, err := s.client.Status(t.Context(), sub.Batch.ID, 10)
	if err != nil || len(st.Batches) != 1 {
		t.Fatalf("%+v, %v", st, err)
	}
	after := st.Batches[0]
	if after.Done != before.Done || after.Failed != 1 || after.Files != 5 || len(after.Failures) != 1 ||
		after.Failures[0].Reason != "broken" {
		t.Errorf("before %+v, after %+v", before, after)
	}
	if again := s.submit(s.batch(), ""); again.Added != 0 || again.Ready != 4 {
		t.Errorf("submitted after a restart: %+v", again)
	}
	// The failed file is processed again on request, and only then.
	r.do = nil
	stop = s.work("b", r, nil)
	defer stop()
	if n, err := s.client.Control(t.Context(), sub.Batch.ID, farm.Retry); n != 1 || err != nil {
		t.Errorf("retry: %d, %v", n, err)
	}
	if end := s.wait(sub.Batch.ID); end.Done != 5 || end.Failed != 0 {
		t.Errorf("after the retry: %+v", end)
	}
	if n := r.count("003.tif"); n != 2 {
		t.Errorf("the failure was done %d times", n)
	}
	if n := r.count("001.tif"); n != 1 {
		t.Errorf("a file that had not failed was done %d times", n)
	}
}

// After two crashes a file is set aside, with its last output; the others are processed.
func TestPoison(t *testing.T) {
	t.Parallel()
	s := newSite(t, 6)
	r := &stub{do: func(_ context.Context, t farm.Task, run int) (farm.Outcome, error) {
		switch filepath.Base(t.Input) {
		case "002.tif":
			return farm.Outcome{}, &farm.Crash{How: "signal: killed", Log: "the last words"}
		case "004.tif":
			if run == 1 {
				return farm.Outcome{}, &farm.Crash{How: "signal: killed"}
			}
		}
		return farm.Outcome{End: farm.Done}, nil
	}}
	sub := s.submit(s.batch(), "")
	s.work("a", r, nil)
	s.work("b", r, nil)
	end := s.wait(sub.Batch.ID)
	st, err := s.client.Status(t.Context(), sub.Batch.ID, 10)
	if err != nil {
		t.Fatal(err)
	}
	if end.Done != 5 || end.Failed != 1 || r.count("002.tif") != 2 || r.count("004.tif") != 2 {
		t.Fatalf("%+v; crashed %d and %d times", end, r.count("002.tif"), r.count("004.tif"))
	}
	f := st.Batches[0].Failures[0]
	if !strings.Contains(f.File, "002.tif") || !strings.Contains(f.Reason, "2 times") || !strings.Contains(f.Log, "last words") {
		t.Errorf("the failure: %+v", f)
	}
}

// takeAs takes a job as a worker of this name.
func (s *site) takeAs(worker string) farm.Answer {
	s.t.Helper()
	var a farm.Answer
	s.until(func() bool {
		var err error
		a, err = s.manager.assign(s.t.Context(), farm.Request{
			Worker: &farm.Heartbeat{Name: worker, Program: "1", Model: "m"}, Shared: true,
		})
		if err != nil {
			s.t.Fatal(err)
		}
		return a.Job != nil
	})
	return a
}

// Each crash is one entry in the log, also the one that sets the file aside: a server that is killed between two would
// hand the file out again.
func TestCrashIsOneEntry(t *testing.T) {
	t.Parallel()
	s := newSite(t, 1)
	id := s.submit(s.batch(), "").Batch.ID
	var key jobKey
	for range maxCrashes {
		a := s.takeAs("a")
		key, _ = keyOf(a.Job.ID)
		if _, err := onTicket(s.manager, s.manager.crash)(t.Context(), farm.Request{Ticket: a.Ticket, Log: "the last words"}); err != nil {
			t.Fatal(err)
		}
	}
	if m := s.manager.markOf(s.manager.batches[id], key); m.status() != failed || m.seq() != maxCrashes {
		t.Errorf("status %v, in entry %d after %d crashes", m.status(), m.seq(), maxCrashes)
	}
}

// Repeated deliveries do not set a file aside, but many workers that vanish while processing it do.
func TestDeliveriesAreNoCrashes(t *testing.T) {
	t.Parallel()
	s := newSite(t, 1)
	sub := s.submit(s.batch(), "")
	for n := range 100 {
		a := s.takeAs("steady")
		if a.Delivered != n+1 {
			t.Fatalf("delivery %d: %+v", n+1, a)
		}
		if _, err := onTicket(s.manager, s.manager.back)(t.Context(), farm.Request{Ticket: a.Ticket}); err != nil {
			t.Fatal(err)
		}
	}
	// While a worker has it and renews it, nobody else gets it.
	a := s.takeAs("busy")
	for end := time.Now().Add(2 * s.manager.options.Patience); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if a, err := onTicket(s.manager, s.manager.renew)(t.Context(), farm.Request{Ticket: a.Ticket}); err != nil || a.Verdict != farm.Proceed {
			t.Fatalf("%+v, %v", a, err)
		}
		other, err := s.manager.assign(t.Context(), farm.Request{Worker: &farm.Heartbeat{Name: "other", Program: "1", Model: "m"}, Shared: true})
		if err != nil || other.Job != nil {
			t.Fatalf("while another worker has it: %+v, %v", other, err)
		}
	}
	if _, err := onTicket(s.manager, s.manager.back)(t.Context(), farm.Request{Ticket: a.Ticket}); err != nil {
		t.Fatal(err)
	}
	key, _ := keyOf(a.Job.ID)
	for n := range maxLost {
		s.takeAs(fmt.Sprint("vanished", n))
		s.manager.mu.Lock()
		s.manager.leases[key].until = time.Now()
		s.manager.mu.Unlock()
		s.until(func() bool {
			s.manager.mu.Lock()
			defer s.manager.mu.Unlock()
			return s.manager.leases[key] == nil
		})
	}
	s.until(func() bool { return s.manager.Status(sub.Batch.ID, 1).Batches[0].Failed == 1 })
	if b := s.manager.Status(sub.Batch.ID, 1).Batches[0]; !strings.Contains(b.Failures[0].Reason, "10 workers") {
		t.Errorf("%+v", b)
	}
}
