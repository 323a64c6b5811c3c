package server

import (
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"blik/app/farm"
)

// Finished and cancelled batches are removed after a while with all their data; others stay.
func TestRetention(t *testing.T) {
	t.Parallel()
	s := newSite(t, 3)
	old := s.submit(s.batch(), "")
	uploaded := s.send(s.names(), nil)
	stop := s.work("a", reverser(), func(o *farm.WorkerOptions) { o.Scratch = t.TempDir() })
	s.wait(old.Batch.ID)
	s.wait(uploaded.Batch.ID)
	stop()
	other := s.batch()
	other.Work.Region = "rect:0,0,9,9"
	open := s.submit(other, "")
	cancelled := s.submit(other, "again")
	if n, err := s.client.Control(t.Context(), cancelled.Batch.ID, farm.Cancel); n != 3 || err != nil {
		t.Fatal(n, err)
	}
	// The last messages of RESULTS belong to the batches that are removed.
	s.stop()
	s.keep = time.Millisecond
	s.start(Options{})
	s.until(func() bool { return len(s.manager.Status("", 0).Batches) == 1 })
	if st := s.manager.Status("", 0).Batches[0]; st.ID != open.Batch.ID || st.Files != 3 || st.Done != 0 {
		t.Errorf("what is left: %+v", st)
	}
	if n := s.stored(); n != 0 {
		t.Errorf("the object store holds %d bytes", n)
	}
	for range 2 {
		s.stop()
		s.keep = time.Hour
		s.start(Options{})
		results, err := s.manager.stores.results.Info(t.Context())
		if err != nil || results.State.Msgs != 0 {
			t.Errorf("%+v, %v", results.State, err)
		}
		if all := s.manager.Status("", 0).Batches; len(all) != 1 || all[0].Files != 3 {
			t.Errorf("after a restart: %+v", all)
		}
	}
	// They can be submitted again.
	s.work("b", reverser(), nil)
	if again := s.submit(s.batch(), ""); again.Added != 3 || again.Batch.ID != old.Batch.ID {
		t.Errorf("submitted again: %+v", again)
	}
	if end := s.wait(old.Batch.ID); end.Done != 3 {
		t.Errorf("done again: %+v", end)
	}
	if end := s.wait(open.Batch.ID); end.Done != 3 {
		t.Errorf("the other: %+v", end)
	}
}

// If the store is full, submitters wait and are told why; they continue when there is space again.
func TestStoreLimit(t *testing.T) {
	t.Parallel()
	s := newSite(t, 0)
	s.stop()
	s.start(Options{Listen: "127.0.0.1:0", MaxStore: 100_000})
	where := s.server.Address()
	client, err := farm.Dial(t.Context(), farm.Join{URL: "nats://" + where}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	b, err := client.Open(t.Context(), s.batch(), "", nil)
	if err != nil {
		t.Fatal(err)
	}
	var said atomic.Pointer[string]
	added := make(chan farm.Submission, 1)
	const files = 2000
	go func() {
		i := 0
		sub, err := client.Add(t.Context(), b, func() (farm.Job, bool) {
			i++
			name := farm.ShortID([]byte{byte(i), byte(i >> 8)}, 30) + ".tif"
			return farm.Job{In: farm.Place{Path: filepath.Join(s.in, name)}, Out: farm.Place{Path: s.out}, Size: 1, Modified: int64(i)}, i <= files
		}, func(err error) { said.CompareAndSwap(nil, new(err.Error())) })
		if err != nil {
			t.Error(err)
		}
		added <- sub
	}()
	s.until(func() bool { return said.Load() != nil })
	if text := *said.Load(); !strings.Contains(text, "the store of the server is full") {
		t.Errorf("the sentence: %s", text)
	}
	if f := s.manager.Status("", 0).Fault; !strings.Contains(f, "raise --store-limit") {
		t.Errorf("the fault: %q", f)
	}
	s.stop()
	s.start(Options{Listen: where, MaxStore: 50_000_000})
	if sub := <-added; sub.Added+sub.Known != files {
		t.Errorf("with room again: %+v", sub)
	}
	if st := s.manager.Status("", 0); st.Fault != "" || st.Batches[0].Files != files {
		t.Errorf("with room again: %+v", st)
	}
}
