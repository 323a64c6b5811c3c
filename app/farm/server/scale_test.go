package server

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"blik/app/farm"
	"blik/internal/test/testpic"
)

// asServer, set in the environment of a process of this test, makes it a server with this store.
const asServer = "BLIK_TEST_FARM_STORE"

// TestServer is a server when another test has started it as such.
func TestServer(t *testing.T) {
	store := os.Getenv(asServer)
	if store == "" {
		t.Log("started by other tests")
		return
	}
	begin := time.Now()
	s, err := Start(t.Context(), Options{Store: store, Listen: "127.0.0.1:0", Secure: true, Log: quiet()})
	if err != nil {
		t.Fatal(err)
	}
	m, err := StartManager(t.Context(), ManagerOptions{Embedded: s, ServerOnly: true, Log: quiet()})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	fmt.Printf("\nlistening %s %f\n", s.Address(), time.Since(begin).Seconds())
	bufio.NewReader(os.Stdin).ReadByte()
	os.Exit(0)
}

// host is a server in a separate process.
type host struct {
	cmd  *exec.Cmd
	join func(farm.Role) farm.Join
	took float64
}

// startHost starts one and makes a key for each role.
func startHost(t *testing.T, store string) host {
	t.Helper()
	c := exec.Command(os.Args[0], "-test.run=^TestServer$")
	c.Env = append(os.Environ(), asServer+"="+store)
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { in.Close(); c.Process.Kill(); c.Wait() })
	h := host{cmd: c}
	var address string
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if n, _ := fmt.Sscanf(lines.Text(), "listening %s %f", &address, &h.took); n == 2 {
			break
		}
	}
	if address == "" {
		t.Fatal("the server did not start")
	}
	ring, err := OpenKeyring(store)
	if err != nil {
		t.Fatal(err)
	}
	certificate, err := ring.Fingerprint()
	if err != nil {
		t.Fatal(err)
	}
	seeds := map[farm.Role]string{}
	for _, role := range roles() {
		name := string(role) + strconv.Itoa(c.Process.Pid)
		if seeds[role], err = ring.Make(name, role); err != nil {
			t.Fatal(err)
		}
	}
	h.join = func(role farm.Role) farm.Join {
		return farm.Join{URL: "tls://" + address, Seed: seeds[role], Certificate: certificate}
	}
	return h
}

// memory returns the resident memory of the server and its peak, in MB.
func (h host) memory(t *testing.T) (now, peak float64) {
	t.Helper()
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", h.cmd.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		var kib float64
		if n, _ := fmt.Sscanf(line, "VmRSS: %f kB", &kib); n == 1 {
			now = kib * 1024 / 1e6
		}
		if n, _ := fmt.Sscanf(line, "VmHWM: %f kB", &kib); n == 1 {
			peak = kib * 1024 / 1e6
		}
	}
	return now, peak
}

func size(t *testing.T, dir string) float64 {
	t.Helper()
	var sum int64
	err := filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() {
			if info, err := e.Info(); err == nil {
				sum += info.Size()
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return float64(sum) / 1e6
}

// TestScale measures a farm with stub jobs. BLIK_FARM_SCALE is FILES,NODES,JOBS; JOBS of the files are processed.
func TestScale(t *testing.T) {
	testpic.Long(t)
	var files, nodes, jobs int
	if n, _ := fmt.Sscanf(os.Getenv("BLIK_FARM_SCALE"), "%d,%d,%d", &files, &nodes, &jobs); n != 3 {
		files, nodes, jobs = 3000, 3, 200
	}
	dir := t.TempDir()
	in, out, store := filepath.Join(dir, "in"), filepath.Join(dir, "out"), filepath.Join(dir, "store")
	for _, d := range []string{in, out, store} {
		if err := os.Mkdir(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 100 {
		if err := os.WriteFile(filepath.Join(in, fmt.Sprintf("inventory-%04d-recto.tif", i)), []byte("x"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	h := startHost(t, store)
	empty, _ := h.memory(t)
	c, err := farm.Dial(t.Context(), h.join(farm.Submitter), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	b := farm.Batch{Work: farm.Work{Command: "correct", Preset: json.RawMessage("{}"), Limit: 1000}, Program: "1", Model: "m"}
	begin, i := time.Now(), 0
	if b, err = c.Open(t.Context(), b, "", nil); err != nil {
		t.Fatal(err)
	}
	sub, err := c.Add(t.Context(), b, func() (farm.Job, bool) {
		i++
		name := filepath.Join(in, fmt.Sprintf("inventory-%04d-recto.tif", i%100))
		// Their times make the files different.
		return farm.Job{In: farm.Place{Path: name}, Out: farm.Place{Path: out}, Size: 1, Modified: int64(i)}, i <= files
	}, nil)
	if err != nil || sub.Added != files {
		t.Fatalf("%+v, %v", sub, err)
	}
	submitted := time.Since(begin)
	queued, _ := h.memory(t)

	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	r := &counter{enough: make(chan struct{}), want: jobs}
	var all sync.WaitGroup
	begin = time.Now()
	for n := range nodes {
		all.Go(func() {
			_ = farm.RunWorker(ctx, farm.WorkerOptions{
				Join: h.join(farm.WorkerRole), Name: "node" + strconv.Itoa(n), Program: "1", Model: "m", Slots: []farm.Slot{{Device: "cpu", Threads: 1}},
				Roots: farm.Roots{{Folder: in}, {Folder: out, Write: true}}, Runner: r, Log: quiet(),
			})
		})
	}
	select {
	case <-r.enough:
	case <-t.Context().Done():
	}
	worked := time.Since(begin)
	stop()
	all.Wait()
	st, err := c.Status(t.Context(), sub.Batch.ID, 0)
	if err != nil {
		t.Fatal(err)
	}
	if got := st.Batches[0]; got.Files != files || got.Done < jobs-nodes || got.Failed != 0 {
		t.Fatalf("%+v", got)
	}
	full, peak := h.memory(t)
	stored := size(t, store)
	// The server is killed and starts with this store.
	if err := h.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = h.cmd.Wait()
	second := startHost(t, store)
	again, _ := second.memory(t)
	c2, err := farm.Dial(t.Context(), second.join(farm.Observer), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer c2.Close()
	after, err := c2.Status(t.Context(), sub.Batch.ID, 0)
	if err != nil || after.Batches[0].Done < st.Batches[0].Done || after.Batches[0].Files != files {
		t.Errorf("after a kill: %+v, %v", after, err)
	}
	per := worked.Seconds() / float64(jobs) * 1e3
	t.Logf("%d files, %d nodes, %d jobs done with TLS and keys: submitted in %.2f s; %.2f ms a job, %.0f jobs/s; "+
		"memory of the server: empty %.0f MB, queued %.0f MB, at the end %.0f MB, peak %.0f MB, after a kill %.0f MB; "+
		"store %.1f MB; ready %.2f s after a kill",
		files, nodes, jobs, submitted.Seconds(), per, 1e3/per, empty, queued, full, peak, again, stored, second.took)
}

// counter is a Runner that does nothing and reports when it has run often enough.
type counter struct {
	mu     sync.Mutex
	done   int
	want   int
	enough chan struct{}
}

func (c *counter) Run(context.Context, farm.Task) (farm.Outcome, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.done++
	if c.done == c.want {
		close(c.enough)
	}
	sum := strings.Repeat("0123456789abcdef", 4)
	return farm.Outcome{
		End: farm.Done, Sentence: "findings corrected: 12; pixels changed: 3456 (0.173 %)", SourceSHA256: sum, SHA256: sum,
		Device: "cpu", Outputs: []farm.Output{{Name: "inventory-0000-recto_corrected.tif", SHA256: sum}, {Name: "inventory-0000-recto_corrected.html", SHA256: ""},
			{Name: "inventory-0000-recto_corrected.json", SHA256: ""}},
	}, nil
}
