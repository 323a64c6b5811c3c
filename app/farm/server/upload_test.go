package server

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"blik/app/farm"
	"blik/internal/atomicfile"

	"github.com/nats-io/nats.go/jetstream"
)

// reverser is a Runner whose result is the original, backwards.
func reverser() *stub {
	return &stub{do: func(_ context.Context, t farm.Task, _ int) (farm.Outcome, error) {
		data, err := os.ReadFile(t.Input)
		if err != nil {
			return farm.Outcome{}, err
		}
		if bytes.HasPrefix(data, []byte("bad")) {
			return farm.Outcome{End: farm.Failed, Sentence: t.Input + ": damaged"}, nil
		}
		for i, j := 0, len(data)-1; i < j; i, j = i+1, j-1 {
			data[i], data[j] = data[j], data[i]
		}
		name := filepath.Base(t.Input)
		for _, out := range []string{name + ".out", name + ".html"} {
			if err := os.WriteFile(filepath.Join(t.Folder, out), data, 0o644); err != nil {
				return farm.Outcome{}, err
			}
		}
		return farm.Outcome{End: farm.Done, Outputs: []farm.Output{{Name: name + ".out"}, {Name: name + ".html"}}}, nil
	}}
}

func backwards(data []byte) []byte {
	turned := bytes.Clone(data)
	for i := range data {
		turned[len(data)-1-i] = data[i]
	}
	return turned
}

// uploads are files with sizes around that of a chunk.
func uploads(t *testing.T, dir string, sizes ...int) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	rng := rand.NewChaCha8([32]byte{1})
	for i, size := range sizes {
		data := make([]byte, size)
		rng.Read(data)
		name := fmt.Sprintf("%03d.tif", i)
		files[name] = data
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return files
}

// send uploads and submits files, and returns the batch.
func (s *site) send(names []string, told func(error)) farm.Submission {
	s.t.Helper()
	b := s.batch()
	b.Work.Upload = true
	b, err := s.client.Open(s.t.Context(), b, "", told)
	if err != nil {
		s.t.Fatal(err)
	}
	sub, err := s.client.Add(s.t.Context(), b, func() (farm.Job, bool) {
		if len(names) == 0 {
			return farm.Job{}, false
		}
		job, err := farm.NewUpload(s.t.Context(), filepath.Join(s.in, names[0]), "sub")
		if err != nil {
			s.t.Fatal(err)
		}
		names = names[1:]
		return job, true
	}, told)
	if err != nil {
		s.t.Fatal(err)
	}
	return sub
}

func (s *site) names() (names []string) {
	s.t.Helper()
	entries, err := os.ReadDir(s.in)
	if err != nil {
		s.t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// stored returns the number of bytes in the object store.
func (s *site) stored() uint64 {
	s.t.Helper()
	info, err := s.manager.stores.files.stream.Info(s.t.Context())
	if err != nil {
		s.t.Fatal(err)
	}
	return info.State.Bytes
}

// lenient is a Checker that accepts everything.
type lenient struct{}

func (lenient) Names(string, []string) error                           { return nil }
func (lenient) MaxBytes(string) int64                                  { return 1 << 40 }
func (lenient) Check(context.Context, string, string, []string) error  { return nil }
func (lenient) Renewable(context.Context, string, string, string) bool { return false }

// collection is where the results of uploaded files go in the tests.
func (s *site) collection(c farm.Checker, told func(error)) farm.Collection {
	return farm.Collection{
		Folder: s.out, Checker: c, Every: time.Millisecond, Notify: told, Like: func(atomicfile.File, string, bool) {},
		Fetched: func(string, string) {},
	}
}

// fetch downloads the finished results.
func (s *site) fetch(id string, told func(error)) farm.Collected {
	s.t.Helper()
	if told == nil {
		told = func(err error) { s.t.Error(err) }
	}
	done := make(chan struct{})
	close(done)
	o := s.collection(lenient{}, told)
	got, err := s.client.Collect(s.t.Context(), id, o, done)
	if err != nil {
		s.t.Fatal(err)
	}
	return got
}

// Files are sent through the object store to a worker without a shared folder, and results come back intact. Then the
// store is empty.
func TestUpload(t *testing.T) {
	t.Parallel()
	s := newSite(t, 0)
	files := uploads(t, s.in, 1, 1000, farm.MaxPiece-1, farm.MaxPiece, farm.MaxPiece+1, 5*farm.MaxPiece+7, 0)
	files["bad.tif"] = []byte("bad")
	s.put("bad.tif")
	sub := s.send(s.names(), nil)
	if sub.Added != len(files) {
		t.Fatalf("submitted: %+v", sub)
	}
	scratch := t.TempDir()
	s.work("a", reverser(), func(o *farm.WorkerOptions) { o.Roots, o.Scratch = nil, scratch })
	if end := s.wait(sub.Batch.ID); end.Done != len(files)-1 || end.Failed != 1 {
		t.Fatalf("the end: %+v", end)
	}
	st, err := s.client.Status(t.Context(), sub.Batch.ID, 1)
	if err != nil || st.Batches[0].Failures[0].Reason != "sub/bad.tif: damaged" {
		t.Errorf("the failure: %+v, %v", st, err)
	}
	if got := s.fetch(sub.Batch.ID, nil); got.Files != 2*(len(files)-1) || got.Failed != 0 {
		t.Fatalf("fetched: %+v", got)
	}
	for name, data := range files {
		if name == "bad.tif" {
			continue
		}
		for _, tail := range []string{".out", ".html"} {
			if got, err := os.ReadFile(filepath.Join(s.out, "sub", name+tail)); err != nil || !bytes.Equal(got, backwards(data)) {
				t.Errorf("%s%s: %d bytes of %d, %v", name, tail, len(got), len(data), err)
			}
		}
	}
	// Failed files can be retried; everything else has been removed.
	if n := s.stored(); n > 2000 {
		t.Errorf("the object store still holds %d bytes", n)
	}
	if again := s.fetch(sub.Batch.ID, nil); again.Files != 0 || again.Failed != 0 {
		t.Errorf("fetched again: %+v", again)
	}
	// A client that has submitted other files has nothing to fetch, and nothing to complain about.
	client := s.client
	if s.client, err = farm.Dial(t.Context(), farm.Join{}, s.server); err != nil {
		t.Fatal(err)
	}
	if other := s.fetch(sub.Batch.ID, nil); other != (farm.Collected{}) {
		t.Errorf("fetched by another client: %+v", other)
	}
	s.client.Close()
	s.client = client
	if again := s.send(s.names(), nil); again.Added != 0 || again.Ready != len(files)-1 || s.stored() > 2000 {
		t.Errorf("sent again: %+v, %d bytes", again, s.stored())
	}
	// A result that was deleted after it had been fetched is made again, and the store is empty after that.
	lost := filepath.Join(s.out, "sub", "001.tif.out")
	if err := os.Remove(lost); err != nil {
		t.Fatal(err)
	}
	var said []string
	got := s.fetch(sub.Batch.ID, func(err error) { said = append(said, err.Error()) })
	if got.Files != 2 || got.Failed != 0 || len(said) != 1 || !strings.Contains(said[0], "made again") || s.stored() > 2000 {
		t.Errorf("without a result: %+v, %q, %d bytes", got, said, s.stored())
	}
	for dir, want := range map[string]int{scratch: 1, filepath.Join(s.out, "sub"): 2 * (len(files) - 1)} {
		if e, err := os.ReadDir(dir); err != nil || len(e) != want {
			t.Errorf("%s holds %v, %v", dir, e, err)
		}
	}
}

// A store that is smaller than the batch only delays it.
func TestUploadThroughSmallStore(t *testing.T) {
	t.Parallel()
	s := newSite(t, 0)
	s.manager.options.MaxFiles = 500_000
	sizes := make([]int, 6)
	for i := range sizes {
		sizes[i] = 100_000
	}
	files := uploads(t, s.in, append(sizes, 300_000)...)
	s.work("a", reverser(), func(o *farm.WorkerOptions) { o.Roots, o.Scratch = nil, t.TempDir() })
	var most uint64
	var said []string
	done, got := make(chan struct{}), make(chan farm.Collected, 1)
	b := s.batch()
	b.Work.Upload = true
	b, err := s.client.Open(t.Context(), b, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		c, err := s.client.Collect(t.Context(), b.ID, s.collection(lenient{}, func(error) {}), done)
		if err != nil {
			t.Error(err)
		}
		got <- c
	}()
	sub := s.send(s.names(), func(err error) { said, most = append(said, err.Error()), max(most, s.stored()) })
	s.wait(sub.Batch.ID)
	close(done)
	if c := <-got; c.Files != 2*6 || c.Failed != 0 || sub.Added != 6 {
		t.Errorf("%+v, %+v", c, sub)
	}
	for name, data := range files {
		if got, err := os.ReadFile(filepath.Join(s.out, "sub", name+".out")); len(data) == 100_000 && !bytes.Equal(got, backwards(data)) {
			t.Errorf("%s: %v", name, err)
		}
	}
	text := strings.Join(said, "\n")
	if !strings.Contains(text, "006.tif: 0.3 MB is too large") {
		t.Errorf("a file larger than the store: %s", text)
	}
	if most > 520_000 || s.stored() > 2000 {
		t.Errorf("the store held %d bytes, and holds %d", most, s.stored())
	}
}

// Damaged files of the store are neither processed nor written, and names cannot lead to other folders.
func TestUploadDamaged(t *testing.T) {
	t.Parallel()
	s := newSite(t, 0)
	uploads(t, s.in, 3*farm.MaxPiece, 2*farm.MaxPiece)
	sub := s.send(s.names(), nil)
	// Another file under the name of the first.
	js, err := jetstream.New(s.manager.link.Conn)
	if err != nil {
		t.Fatal(err)
	}
	bucket, err := js.ObjectStore(t.Context(), filesBucket)
	if err != nil {
		t.Fatal(err)
	}
	list, err := bucket.List(t.Context())
	if err != nil || len(list) != 2 {
		t.Fatalf("%v, %v", list, err)
	}
	for _, info := range list {
		if info.Size == 3*farm.MaxPiece {
			// The standard client reads what is written here.
			if data, err := bucket.GetBytes(t.Context(), info.Name); err != nil || len(data) != 3*farm.MaxPiece {
				t.Errorf("%d bytes, %v", len(data), err)
			}
			if _, err := bucket.PutBytes(t.Context(), info.Name, []byte("something else")); err != nil {
				t.Fatal(err)
			}
		}
	}
	r := reverser()
	s.work("a", r, func(o *farm.WorkerOptions) { o.Roots, o.Scratch = nil, t.TempDir() })
	if end := s.wait(sub.Batch.ID); end.Done != 1 || end.Failed != 1 || r.count("000.tif") != 0 {
		t.Fatalf("%+v; %d runs", end, r.count("000.tif"))
	}
	if f := s.manager.Status(sub.Batch.ID, 1).Batches[0].Failures[0]; !strings.Contains(f.Reason, "its SHA-256 does not match") {
		t.Errorf("the failure: %+v", f)
	}
	// A file of the same name is not replaced, and a result with a wrong checksum is not downloaded.
	target := filepath.Join(s.out, "sub", "001.tif.out")
	if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(target, []byte("mine"), 0o644); err != nil {
		t.Fatal(err)
	}
	var said []string
	if got := s.fetch(sub.Batch.ID, func(err error) { said = append(said, err.Error()) }); got.Failed != 1 ||
		!strings.Contains(strings.Join(said, "\n"), "--overwrite replaces it") {
		t.Errorf("%+v, %v", got, said)
	}
	if data, err := os.ReadFile(target); string(data) != "mine" {
		t.Errorf("%q, %v", data, err)
	}
}
