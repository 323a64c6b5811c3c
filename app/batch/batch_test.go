package batch

import (
	"bytes"
	"context"
	"image"
	"image/png"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"blik/app/document"
	"blik/app/farm"
	"blik/app/farm/server"
	"blik/app/i18n"
	"blik/app/imagefile"
	"blik/app/report"
	"blik/app/work"
)

// runner copies each file, reports an error for bad ones, and writes nothing for lost ones.
type runner struct {
	mu    sync.Mutex
	runs  map[string]int
	block chan struct{}
}

func (r *runner) Run(ctx context.Context, t farm.Task) (farm.Outcome, error) {
	name := filepath.Base(t.Input)
	r.mu.Lock()
	if r.runs == nil {
		r.runs = map[string]int{}
	}
	r.runs[name]++
	r.mu.Unlock()
	if r.block != nil {
		select {
		case <-r.block:
		case <-ctx.Done():
			return farm.Outcome{}, ctx.Err()
		}
	}
	if strings.HasPrefix(name, "bad") {
		return farm.Outcome{End: farm.Failed, Sentence: "damaged"}, nil
	}
	if strings.HasPrefix(name, "lost") {
		return farm.Outcome{End: farm.Done, Outputs: []farm.Output{{Name: "lost_corrected.png"}}}, nil
	}
	source, err := imagefile.Read(ctx, t.Input, imagefile.DefaultLimits())
	if err != nil {
		return farm.Outcome{}, err
	}
	target := filepath.Join(t.Folder, imagefile.DefaultName(name, imagefile.PNG))
	made := report.NewCorrection(source, "1", nil, nil, []*document.Origin{{}})
	got, err := work.Save(ctx, made, work.Target{Path: target, Report: i18n.For("en")})
	if err != nil {
		return farm.Outcome{}, err
	}
	out := farm.Outcome{End: farm.Done}
	for _, path := range []string{target, got.Report, got.JSON} {
		out.Outputs = append(out.Outputs, farm.Output{Name: filepath.Base(path)})
	}
	return out, nil
}

// sheet returns a PNG of one pixel.
func sheet(t *testing.T, value byte) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, &image.Gray{Pix: []byte{value}, Stride: 1, Rect: image.Rect(0, 0, 1, 1)}); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// request is for three good files, a bad one and a missing one.
func request(t *testing.T, r farm.Runner) Request {
	t.Helper()
	dir := t.TempDir()
	q := Request{
		Work: work.Default(), Own: true, AnyName: true, Folder: filepath.Join(dir, "out"), Language: "en", Version: "1",
		Store: filepath.Join(dir, "store"), Host: server.Embed,
		Worker: func(o *farm.WorkerOptions) {
			o.Runner, o.Slots, o.Memory = r, []farm.Slot{{Device: "cpu", Threads: 1}}, nil
		},
	}
	for i, name := range []string{"a.png", "b.png", "c.png", "bad.png"} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, sheet(t, byte(i)), 0o644); err != nil {
			t.Fatal(err)
		}
		q.Files = append(q.Files, File{Path: path})
	}
	q.Files = append(q.Files, File{Path: filepath.Join(dir, "missing.png")})
	return q
}

// check compares the end of a batch with its request.
func check(t *testing.T, q Request, end State) {
	t.Helper()
	if end.Err != nil || !end.Ended || end.Files != 5 || end.Done != 3 || end.Failed != 2 || len(end.Failures) != 2 {
		t.Fatalf("the end: %+v", end)
	}
	if why := end.Failures[0].Reason + end.Failures[1].Reason; !strings.Contains(why, "no such file") || !strings.Contains(why, "damaged") {
		t.Errorf("the failures: %+v", end.Failures)
	}
	if len(end.Results) != 3 {
		t.Errorf("the results: %v", end.Results)
	}
	for _, path := range end.Results {
		name := strings.Replace(filepath.Base(path), "_corrected", "", 1)
		data, err := os.ReadFile(path)
		if want, e := os.ReadFile(filepath.Join(filepath.Dir(q.Folder), name)); err != nil || e != nil || !bytes.Equal(data, want) {
			t.Errorf("%s: %q, %v, %v", path, data, err, e)
		}
	}
	if e, err := os.ReadDir(q.Folder); err != nil || len(e) != 9 {
		t.Errorf("the folder holds %v, %v", e, err)
	}
}

// A batch on this computer processes each file once and names failed ones.
func TestHere(t *testing.T) {
	t.Parallel()
	r := &runner{}
	q := request(t, r)
	var states []State
	check(t, q, Start(t.Context(), q, func(s State) { states = append(states, s) }).Wait())
	for i, s := range states {
		if s.Ended != (i == len(states)-1) || s.Done < states[max(0, i-1)].Done {
			t.Errorf("state %d: %+v", i, s)
		}
	}
	check(t, q, Start(t.Context(), q, func(State) {}).Wait())
	if r.runs["a.png"] != 1 {
		t.Errorf("runs: %v", r.runs)
	}
}

// Finished results stay after a cancel, and the next start continues.
func TestCancel(t *testing.T) {
	t.Parallel()
	r := &runner{block: make(chan struct{}, 8)}
	q := request(t, r)
	r.block <- struct{}{}
	done := make(chan struct{}, 100)
	b := Start(t.Context(), q, func(s State) {
		if s.Done == 1 {
			done <- struct{}{}
		}
	})
	<-done
	b.Cancel()
	if end := b.Wait(); end.Err == nil || !end.Ended || end.Done != 1 {
		t.Errorf("cancelled: %+v", end)
	}
	close(r.block)
	check(t, q, Start(t.Context(), q, func(State) {}).Wait())
}

// What failed in a finished batch is processed again by the next request for its folder, and reported only if that
// names it. Requests for another folder have nothing to do with it.
func TestAfterFailures(t *testing.T) {
	t.Parallel()
	q := request(t, &runner{})
	check(t, q, Start(t.Context(), q, func(State) {}).Wait())
	good, bad := q.Files[0], q.Files[3]
	q.Files = []File{good}
	here, folder := Start(t.Context(), q, func(State) {}).Wait(), q.Folder
	q.Folder += "2"
	elsewhere := Start(t.Context(), q, func(State) {}).Wait()
	q.Folder, q.Files = folder, []File{bad}
	q.Worker = func(o *farm.WorkerOptions) { o.Runner, o.Slots, o.Memory = mended{}, []farm.Slot{{Device: "cpu"}}, nil }
	for _, end := range []State{here, elsewhere, Start(t.Context(), q, func(State) {}).Wait()} {
		if end.Err != nil || end.Files != 1 || end.Done != 1 || end.Failed != 0 || len(end.Failures) != 0 || end.Batch.Failed != 0 {
			t.Errorf("%+v", end)
		}
	}
}

// Results that no longer exist are made again, in the same folder, and only those.
func TestMissingResults(t *testing.T) {
	t.Parallel()
	r := &runner{}
	q := request(t, r)
	q.Files[1].Folder = "below"
	Start(t.Context(), q, func(State) {}).Wait()
	for _, pattern := range []string{"a_*", "below/b_*"} {
		gone, err := filepath.Glob(filepath.Join(q.Folder, pattern))
		if err != nil || len(gone) != 3 {
			t.Fatalf("%v, %v", gone, err)
		}
		for _, path := range gone {
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
		}
	}
	end := Start(t.Context(), q, func(State) {}).Wait()
	if end.Err != nil || end.Submitted.Missing != 2 || end.Done != 3 || end.Failed != 2 {
		t.Errorf("%+v, %+v", end, end.Submitted)
	}
	if r.runs["a.png"] != 2 || r.runs["b.png"] != 2 || r.runs["c.png"] != 1 {
		t.Errorf("runs: %v", r.runs)
	}
	for _, name := range []string{"a_corrected.png", "below/b_corrected.png"} {
		if _, err := os.Stat(filepath.Join(q.Folder, name)); err != nil {
			t.Error(err)
		}
	}
	if end := Start(t.Context(), q, func(State) {}).Wait(); end.Submitted.Missing != 0 || r.runs["a.png"] != 2 {
		t.Errorf("%+v, runs: %v", end.Submitted, r.runs)
	}
}

// Results beside the originals are no originals of the next run.
func TestResultsBesideOriginals(t *testing.T) {
	t.Parallel()
	r := &runner{}
	q := request(t, r)
	q.Folder = filepath.Dir(q.Files[0].Path)
	Start(t.Context(), q, func(State) {}).Wait()
	first := len(r.runs)
	var said []string
	q.Notify = func(err error) { said = append(said, err.Error()) }
	for _, name := range []string{"a_corrected.png", "b_corrected.png"} {
		q.Files = append(q.Files, File{Path: filepath.Join(q.Folder, name)})
	}
	end := Start(t.Context(), q, func(State) {}).Wait()
	if end.Err != nil || end.Files != 5 || end.Done != 3 || len(r.runs) != first ||
		!strings.Contains(strings.Join(said, "\n"), "a_corrected.png: left out, because it has the place and name of a result of") {
		t.Errorf("%+v, runs %v, said %q", end, r.runs, said)
	}
	// By itself, or elsewhere, such a file is an original.
	alone := q
	alone.Files = []File{{Path: filepath.Join(q.Folder, "a_corrected.png")}}
	elsewhere := q
	elsewhere.Folder = filepath.Join(q.Folder, "out")
	for _, q := range []Request{alone, elsewhere} {
		if kept := q.originals(); len(kept) != len(q.Files) {
			t.Errorf("kept %v of %v", kept, q.Files)
		}
	}
}

// mended processes any file.
type mended struct{}

func (mended) Run(context.Context, farm.Task) (farm.Outcome, error) {
	return farm.Outcome{End: farm.Done, Outputs: []farm.Output{{Name: "x"}}}, nil
}

// A batch ends with the error of a worker that cannot work.
func TestNoWorker(t *testing.T) {
	t.Parallel()
	q := request(t, &runner{})
	missing, options := filepath.Join(t.TempDir(), "missing"), q.Worker
	q.Worker = func(o *farm.WorkerOptions) {
		options(o)
		o.Scratch = missing
	}
	end := Start(t.Context(), q, func(State) {}).Wait()
	if end.Err == nil || !strings.Contains(end.Err.Error(), missing) {
		t.Errorf("without a folder for files: %+v", end)
	}
}

// A farm works with uploaded files and with shared folders, and a missing farm is an error.
func TestOnFarm(t *testing.T) {
	t.Parallel()
	quiet := slog.New(slog.NewTextHandler(io.Discard, nil))
	queue, err := server.Start(t.Context(), server.Options{Store: t.TempDir(), Listen: "127.0.0.1:0", Log: quiet})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(queue.Close)
	m, err := server.StartManager(t.Context(), server.ManagerOptions{Embedded: queue, Log: quiet})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.Close)
	r := &runner{}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	roots, err := userRoots([]string{t.TempDir()}, nil)
	if err != nil {
		t.Fatal(err)
	}
	scratch := t.TempDir()
	go func() {
		o := Worker("1")
		o.Embedded, o.Runner, o.Slots, o.Memory, o.Scratch, o.Log = queue, r, Slots([]string{"cpu"}, 2), nil, scratch, quiet
		o.Roots = roots
		ended <- farm.RunWorker(ctx, o)
	}()
	defer func() { stop(); <-ended }()
	for _, shared := range []bool{false, true} {
		q := request(t, r)
		q.Farm, q.Shared = queue.Join().Text(farm.Submitter), shared
		check(t, q, Start(t.Context(), q, func(State) {}).Wait())
	}
	q := request(t, r)
	address := filepath.Join(t.TempDir(), "submitter.key")
	if err := os.WriteFile(address, []byte(queue.Join().Text(farm.Submitter)+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	q.Farm = "@" + address
	check(t, q, Start(t.Context(), q, func(State) {}).Wait())
	// Results that no longer exist are made again for whoever submits the files to shared folders.
	q = request(t, r)
	q.Farm, q.Shared, q.Own = queue.Join().Text(farm.Submitter), true, false
	for missing := range 2 {
		end := Start(t.Context(), q, func(State) {}).Wait()
		if end.Err != nil || end.Done != 3 || end.Submitted.Missing != missing {
			t.Errorf("%+v, %+v, want %d missing", end, end.Submitted, missing)
		}
		gone, err := filepath.Glob(filepath.Join(q.Folder, "a_*"))
		if err != nil || len(gone) != 3 {
			t.Errorf("the folder holds %v, %v", gone, err)
		}
		for _, path := range gone {
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
		}
	}
	// A worker that writes into another folder is not believed.
	q = request(t, r)
	q.Farm, q.Shared = queue.Join().Text(farm.Submitter), true
	lost := filepath.Join(filepath.Dir(q.Files[0].Path), "lost.png")
	if err := os.Rename(q.Files[0].Path, lost); err != nil {
		t.Fatal(err)
	}
	q.Files = []File{{Path: lost}}
	var said []string
	q.Notify = func(err error) { said = append(said, err.Error()) }
	end := Start(t.Context(), q, func(State) {}).Wait()
	if end.Err != nil || len(said) != 1 || !strings.Contains(said[0], "does not exist here") {
		t.Errorf("%+v, said %q", end, said)
	}
	q = request(t, r)
	q.Farm = "nats://127.0.0.1:1"
	if end := Start(t.Context(), q, func(State) {}).Wait(); end.Err == nil || !strings.Contains(end.Err.Error(), "no farm responds") {
		t.Errorf("without a farm: %+v", end)
	}
	q.Farm = "somewhere"
	if end := Start(t.Context(), q, func(State) {}).Wait(); end.Err == nil || !strings.Contains(end.Err.Error(), "is not a farm address") {
		t.Errorf("without an address: %+v", end)
	}
}
