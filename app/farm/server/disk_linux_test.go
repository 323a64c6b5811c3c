package server

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"blik/app/farm"
	"blik/internal/message"
	"blik/internal/test/testpic"
)

// smallDisk mounts a file system of the given size on the store of a farm, if this user may.
func smallDisk(t *testing.T, store string, size string) {
	t.Helper()
	err := os.MkdirAll(store, 0o700)
	if err == nil {
		err = syscall.Mount("tmpfs", store, "tmpfs", 0, "size="+size)
	}
	testpic.Need(t, err == nil, "the right to mount a file system")
	t.Cleanup(func() { _ = syscall.Unmount(store, 2) })
}

// If other programs fill the disk of the server to the last byte, the farm stops with a sentence. When there is space
// again it continues, and nothing is lost.
func TestServerDiskFull(t *testing.T) {
	t.Parallel()
	s := newSite(t, 4)
	s.stop()
	store := filepath.Join(s.dir, "store")
	smallDisk(t, store, "200m")
	s.start(Options{})
	sub := s.submit(s.batch(), "")
	others := filepath.Join(store, "of others")
	fill := func(left int64) {
		t.Helper()
		f, err := os.OpenFile(others, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		for s.manager.free() > left {
			if _, err := f.Write(make([]byte, min(1<<20, s.manager.free()-left))); err != nil {
				break
			}
		}
	}
	// New work is refused while there is still space for results.
	fill(60 << 20)
	var said atomic.Pointer[string]
	added := make(chan farm.Submission, 1)
	s.put("late.tif")
	go func() {
		more := s.batch()
		more.Work.Region = "rect:0,0,1,1"
		added <- s.submitTelling(more, "", func(err error) { said.Store(new(err.Error())) })
	}()
	s.until(func() bool { return said.Load() != nil })
	if text := *said.Load(); !strings.Contains(text, "the disk of the server is full") {
		t.Errorf("the sentence: %s", text)
	}
	stop := s.work("a", &stub{}, nil)
	if end := s.wait(sub.Batch.ID); end.Done != 4 {
		t.Errorf("with room for results: %+v", end)
	}
	stop()
	if err := os.Remove(others); err != nil {
		t.Fatal(err)
	}
	got := <-added
	if got.Added != 5 {
		t.Errorf("with room again: %+v", got)
	}
	// No byte is free while files are being processed: the workers wait with their results, and report that.
	full, begun := make(chan struct{}), make(chan struct{}, 8)
	r := &stub{do: func(ctx context.Context, t farm.Task, _ int) (farm.Outcome, error) {
		begun <- struct{}{}
		<-full
		return farm.Outcome{End: farm.Done, SHA256: filepath.Base(t.Input)}, nil
	}}
	var waits atomic.Pointer[string]
	s.work("b", r, func(o *farm.WorkerOptions) {
		o.Slots = []farm.Slot{{Device: "cpu", Threads: 1}, {Device: "cpu", Threads: 1}}
		o.Notify = func(m message.Message) { waits.Store(new(m.String())) }
	})
	<-begun
	<-begun
	fill(0)
	close(full)
	s.until(func() bool { return waits.Load() != nil })
	if text := *waits.Load(); !strings.Contains(text, "the disk of the server is full: ") || !strings.HasSuffix(text, "; waiting") {
		t.Errorf("the sentence of the worker: %s", text)
	}
	if f := s.manager.Status("", 0).Fault; !strings.Contains(f, "free space on it, and processing resumes") {
		t.Errorf("the fault: %q", f)
	}
	if err := os.Remove(others); err != nil {
		t.Fatal(err)
	}
	if end := s.wait(got.Batch.ID); end.Done != 5 || end.Failed != 0 {
		t.Errorf("the end: %+v", end)
	}
	if f := s.manager.Status("", 0).Fault; f != "" {
		t.Errorf("a fault stays: %s", f)
	}
	// What was written still exists after a restart.
	s.stop()
	s.start(Options{})
	if st := s.manager.Status(got.Batch.ID, 0).Batches[0]; st.Done != 5 {
		t.Errorf("after a restart: %+v", st)
	}
}

// A store cannot be made on a disk without a free byte; the sentence names the disk.
func TestNewStoreOnFullDisk(t *testing.T) {
	t.Parallel()
	store := filepath.Join(t.TempDir(), "store")
	smallDisk(t, store, "1m")
	if err := os.WriteFile(filepath.Join(store, "of others"), make([]byte, 1<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	_, _, err := Embed(t.Context(), filepath.Join(store, "batch"), quiet())
	if err == nil || !strings.HasPrefix(err.Error(), "the disk that holds the queue, "+store) {
		t.Error(err)
	}
}

// A server that starts on a full disk takes work and uploads as soon as there is space, and says until then what to do.
func TestStartOnFullDisk(t *testing.T) {
	t.Parallel()
	s := newSite(t, 0)
	uploads(t, s.in, 1000)
	s.stop()
	store := filepath.Join(s.dir, "store")
	smallDisk(t, store, "300m")
	others := filepath.Join(store, "of others")
	if err := os.WriteFile(others, make([]byte, 298<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	s.start(Options{})
	var said atomic.Pointer[string]
	sent := make(chan farm.Submission, 1)
	go func() {
		sent <- s.send(s.names(), func(err error) { said.CompareAndSwap(nil, new(err.Error())) })
	}()
	s.until(func() bool { return said.Load() != nil })
	if text := *said.Load(); !strings.Contains(text, "the disk of the server is full: ") || !strings.Contains(text, "free space on it") {
		t.Errorf("the sentence: %s", text)
	}
	if err := os.Remove(others); err != nil {
		t.Fatal(err)
	}
	sub := <-sent
	s.work("a", reverser(), func(o *farm.WorkerOptions) { o.Roots, o.Scratch = nil, t.TempDir() })
	if end := s.wait(sub.Batch.ID); end.Done != 1 {
		t.Errorf("the end: %+v", end)
	}
	if got := s.fetch(sub.Batch.ID, nil); got.Files != 2 {
		t.Errorf("fetched: %+v", got)
	}
}
