package server

import (
	"context"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"blik/app/farm"
	"blik/internal/message"
)

// Cancel stops running files and starts no more; resume continues with the rest and does nothing twice.
func TestCancelAndResume(t *testing.T) {
	t.Parallel()
	s := newSite(t, 5)
	begun, stopped := make(chan string, 8), make(chan struct{}, 8)
	var held atomic.Bool
	held.Store(true)
	r := &stub{do: func(ctx context.Context, t farm.Task, run int) (farm.Outcome, error) {
		if strings.HasSuffix(t.Input, "000.tif") || !held.Load() {
			return farm.Outcome{End: farm.Done}, nil
		}
		begun <- t.Input
		<-ctx.Done()
		stopped <- struct{}{}
		return farm.Outcome{}, ctx.Err()
	}}
	sub := s.submit(s.batch(), "")
	s.work("a", r, nil)
	<-begun
	s.until(func() bool { return s.manager.Status(sub.Batch.ID, 0).Batches[0].Done == 1 })
	if n, err := s.client.Control(t.Context(), sub.Batch.ID, farm.Cancel); err != nil || n != 4 {
		t.Fatalf("%d files, %v", n, err)
	}
	<-stopped
	if end := s.wait(sub.Batch.ID); end.State != farm.Cancelled || end.Done != 1 {
		t.Errorf("cancelled: %+v", end)
	}
	held.Store(false)
	if n, err := s.client.Control(t.Context(), sub.Batch.ID, farm.Resume); err != nil || n != 4 {
		t.Fatalf("%d files, %v", n, err)
	}
	if end := s.wait(sub.Batch.ID); end.Done != 5 || end.Failed != 0 {
		t.Errorf("resumed: %+v", end)
	}
	if r.count("000.tif") != 1 || r.count("004.tif") != 1 || len(begun) != 0 {
		t.Errorf("runs: %v; %d more were begun", r.runs, len(begun))
	}
	// A finished batch cannot be cancelled, and unknown batches and actions are errors.
	if n, err := s.client.Control(t.Context(), sub.Batch.ID, farm.Cancel); err != nil || n != 0 {
		t.Errorf("cancelling what is done: %d, %v", n, err)
	}
	if _, err := s.client.Control(t.Context(), "nothing", farm.Cancel); err == nil || !strings.Contains(err.Error(), "batch nothing does not exist") {
		t.Errorf("another batch: %v", err)
	}
	if _, err := s.client.Control(t.Context(), sub.Batch.ID, "destroy"); err == nil || !strings.Contains(err.Error(), `unknown action "destroy"`) {
		t.Errorf("another action: %v", err)
	}
}

// A paused batch starts no more files, even after a restart of the server.
func TestPause(t *testing.T) {
	t.Parallel()
	s := newSite(t, 3)
	sub := s.submit(s.batch(), "")
	if _, err := s.client.Control(t.Context(), sub.Batch.ID, farm.Pause); err != nil {
		t.Fatal(err)
	}
	s.stop()
	s.start(Options{})
	r := &stub{}
	s.work("a", r, nil)
	other := s.batch()
	other.Work.Region = "rect:0,0,9,9"
	if end := s.wait(s.submit(other, "").Batch.ID); end.Done != 3 {
		t.Errorf("another batch: %+v", end)
	}
	if st := s.manager.Status(sub.Batch.ID, 0).Batches[0]; st.State != farm.Paused || st.Done != 0 || r.count("001.tif") != 1 {
		t.Errorf("paused: %+v", st)
	}
	if _, err := s.client.Control(t.Context(), sub.Batch.ID, farm.Resume); err != nil {
		t.Fatal(err)
	}
	if end := s.wait(sub.Batch.ID); end.Done != 3 {
		t.Errorf("resumed: %+v", end)
	}
}

// A worker of another version or with another network skips a batch and reports that; the server does not give it jobs
// either.
func TestOtherVersion(t *testing.T) {
	t.Parallel()
	s := newSite(t, 2)
	sub := s.submit(s.batch(), "")
	for name, change := range map[string]func(*farm.WorkerOptions){
		"it was submitted with Blik 1, this is 2": func(o *farm.WorkerOptions) { o.Program = "2" },
		"it uses another network":                 func(o *farm.WorkerOptions) { o.Model = "n" },
	} {
		said := make(chan string, 8)
		r := &stub{}
		stop := s.work(name, r, func(o *farm.WorkerOptions) {
			o.Notify = func(m message.Message) { said <- m.String() }
			change(o)
		})
		if text := <-said; !strings.Contains(text, name) || !strings.Contains(text, sub.Batch.ID) {
			t.Errorf("the sentence: %s", text)
		}
		stop()
		if r.count("000.tif")+r.count("001.tif") != 0 {
			t.Errorf("%s: it works", name)
		}
	}
	for _, p := range []farm.Heartbeat{{Name: "w", Program: "2", Model: "m"}, {Name: "w", Program: "1", Model: "n"}} {
		a, err := s.manager.assign(t.Context(), farm.Request{Worker: &p, Shared: true})
		if err != nil || a.Job != nil || a.Remark == nil {
			t.Errorf("%+v: %+v, %v", p, a, err)
		}
	}
	s.work("right", &stub{}, nil)
	if end := s.wait(sub.Batch.ID); end.Done != 2 {
		t.Errorf("the end: %+v", end)
	}
}

// A wrong clock only causes a sentence on both sides.
func TestClockSkew(t *testing.T) {
	t.Parallel()
	s := newSite(t, 2)
	said := make(chan string, 8)
	s.work("late", &stub{}, func(o *farm.WorkerOptions) {
		o.Clock = func() time.Time { return time.Now().Add(-time.Hour) }
		o.Notify = func(m message.Message) { said <- m.String() }
	})
	if text := <-said; !strings.Contains(text, "differs from that of the server by 3600 s") {
		t.Errorf("the sentence: %s", text)
	}
	sub := s.submit(s.batch(), "")
	if end := s.wait(sub.Batch.ID); end.Done != 2 {
		t.Errorf("the end: %+v", end)
	}
	s.manager.mu.Lock()
	defer s.manager.mu.Unlock()
	if w := s.manager.workers["\x00late"]; w == nil || !w.skewed {
		t.Error("the server does not see it")
	}
}

// Two files that do not fit into memory together are processed one after the other; one that is too large for all of it
// is processed alone.
func TestMemoryAccount(t *testing.T) {
	t.Parallel()
	s := newSite(t, 6)
	sizes := map[string]int64{"000.tif": 60, "001.tif": 60, "002.tif": 40, "003.tif": 1000, "004.tif": 10, "005.tif": 30}
	sizeOf := func(file string) int64 { return sizes[file[len(file)-7:]] }
	var mu sync.Mutex
	var now, most int64
	var beside bool
	busy := map[string]bool{}
	r := &stub{do: func(_ context.Context, t farm.Task, _ int) (farm.Outcome, error) {
		mu.Lock()
		now += sizeOf(t.Input)
		busy[t.Input] = true
		if sizeOf(t.Input) <= 100 {
			most = max(most, now)
		}
		beside = beside || len(busy) > 1 && now >= 1000
		mu.Unlock()
		for range 1000 {
			runtime.Gosched() // work takes a while
		}
		mu.Lock()
		defer mu.Unlock()
		now -= sizeOf(t.Input)
		delete(busy, t.Input)
		return farm.Outcome{End: farm.Done}, nil
	}}
	sub := s.submit(s.batch(), "")
	s.work("a", r, func(o *farm.WorkerOptions) {
		o.Slots = []farm.Slot{{Device: "cpu", Threads: 1}, {Device: "cpu", Threads: 1}, {Device: "cpu", Threads: 1}, {Device: "cpu", Threads: 1}}
		o.Memory, o.Budget = sizeOf, 100
	})
	if end := s.wait(sub.Batch.ID); end.Done != 6 {
		t.Errorf("the end: %+v", end)
	}
	if most > 100 || beside {
		t.Errorf("%d of 100 were taken at a time; beside the large one: %v", most, beside)
	}
}

// A file for which a machine has too little memory goes to another one, and fails with a sentence if none can process
// it.
func TestTooLarge(t *testing.T) {
	t.Parallel()
	s := newSite(t, 1)
	small := &stub{do: func(context.Context, farm.Task, int) (farm.Outcome, error) {
		return farm.Outcome{End: farm.TooLarge, Sentence: "it needs 9 GB"}, nil
	}}
	sub := s.submit(s.batch(), "")
	s.work("small", small, nil)
	end := s.wait(sub.Batch.ID)
	if f := s.manager.Status(sub.Batch.ID, 1).Batches[0]; end.Failed != 1 || !strings.Contains(f.Failures[0].Reason, "it needs 9 GB") {
		t.Errorf("%+v, %+v", end, f)
	}
}

// A machine that cannot start the program fails no file that another one, or it itself a little later, can process.
func TestProgramDoesNotStart(t *testing.T) {
	t.Parallel()
	s := newSite(t, 1)
	gone := farm.Process{Program: filepath.Join(t.TempDir(), "gone")}
	never := s.submit(s.batch(), "never")
	s.work("ill", &stub{do: func(ctx context.Context, t farm.Task, run int) (farm.Outcome, error) {
		if run > 6 {
			return farm.Outcome{End: farm.Done}, nil
		}
		return gone.Run(ctx, t)
	}}, nil)
	s.wait(never.Batch.ID)
	for _, f := range s.manager.Status(never.Batch.ID, 1).Batches[0].Failures {
		if !strings.Contains(f.Reason, gone.Program+": the program cannot be started (") {
			t.Errorf("%+v", f)
		}
	}
	if end := s.wait(s.submit(s.batch(), "").Batch.ID); end.Done != 1 {
		t.Errorf("%+v", end)
	}
}

// Results in a shared folder may have such names as their originals. If the farm takes no such result, the file fails.
func TestResultNames(t *testing.T) {
	t.Parallel()
	s := newSite(t, 2)
	names := map[string]string{".a.tif": ".a_mask.png", "a\n.tif": "a\n_mask.png", "000.tif": "../000.png", "001.tif": ".001.png"}
	if runtime.GOOS == "windows" {
		delete(names, "a\n.tif")
	}
	for name := range names {
		s.put(name)
	}
	sub := s.submit(s.batch(), "")
	s.work("a", &stub{do: func(_ context.Context, t farm.Task, _ int) (farm.Outcome, error) {
		return farm.Outcome{End: farm.Done, Outputs: []farm.Output{{Name: names[filepath.Base(t.Input)]}}}, nil
	}}, nil)
	if end := s.wait(sub.Batch.ID); end.Done != len(names)-2 || end.Failed != 2 {
		t.Errorf("the end: %+v", end)
	}
	for _, f := range s.manager.Status(sub.Batch.ID, 2).Batches[0].Failures {
		if !strings.Contains(f.Reason, "does not have a valid file name") {
			t.Errorf("the failure: %+v", f)
		}
	}
}

// A worker whose disk is full gives its file to others, and does not take it again while it rests.
func TestFullDiskOfAWorker(t *testing.T) {
	t.Parallel()
	s := newSite(t, 1)
	full := &stub{do: func(context.Context, farm.Task, int) (farm.Outcome, error) {
		return farm.Outcome{End: farm.Full, Sentence: "the disk is full"}, nil
	}}
	sub := s.submit(s.batch(), "")
	s.work("full", full, nil)
	working := func() int { return s.manager.Status(sub.Batch.ID, 0).Batches[0].Working }
	s.until(func() bool { return full.count("000.tif") == 1 && working() == 0 })
	// A worker renews its hold several times within this time.
	for end := time.Now().Add(500 * time.Millisecond); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if working() != 0 {
			t.Fatal("the worker holds the file although it gave it back")
		}
	}
	s.work("other", &stub{}, nil)
	if end := s.wait(sub.Batch.ID); end.Done != 1 || full.count("000.tif") != 1 {
		t.Errorf("the end: %+v; tried %d times", end, full.count("000.tif"))
	}
}

// If two clients submit the same folder at the same time, each file is added once.
func TestDuplicateSubmit(t *testing.T) {
	t.Parallel()
	s := newSite(t, 50)
	var all sync.WaitGroup
	var added, known atomic.Int64
	for range 4 {
		all.Go(func() {
			sub := s.submit(s.batch(), "")
			added.Add(int64(sub.Added))
			known.Add(int64(sub.Known))
		})
	}
	all.Wait()
	if added.Load() != 50 || known.Load() != 150 {
		t.Errorf("%d added, %d known", added.Load(), known.Load())
	}
	r := &stub{}
	s.work("a", r, nil)
	s.work("b", r, nil)
	if end := s.wait(s.submit(s.batch(), "").Batch.ID); end.Done != 50 {
		t.Errorf("the end: %+v", end)
	}
	for name, n := range r.runs {
		if n != 1 {
			t.Errorf("%s was done %d times", name, n)
		}
	}
}
