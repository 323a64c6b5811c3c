//go:build linux

package cli

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"blik/app/farm"
	"blik/app/imagefile"
	"blik/internal/test/testpic"
	"blik/processing"
)

// member is a process of a farm that is restarted after it is killed.
type member struct {
	args []string
	out  *lockedBuffer
	cmd  *exec.Cmd
}

func (m *member) begin(t *testing.T) {
	t.Helper()
	m.cmd = start(t, m.out, m.args...)
}

func (m *member) kill() {
	_ = m.cmd.Process.Kill()
	_ = m.cmd.Wait()
}

// TestFarmChaos kills servers and workers during a batch in which one file kills its process, one file is missing, and
// the disk of one worker is full. BLIK_FARM_CHAOS is PICTURES,REPEATS, of which -parallel run at a time; without it a
// short form runs.
//
// All other pictures must get one result each, bit for bit that of a direct run. The two failures must be named, and
// nothing may be left behind.
func TestFarmChaos(t *testing.T) {
	testpic.Long(t)
	pictures, repeats := 8, 1
	n, _ := fmt.Sscanf(os.Getenv("BLIK_FARM_CHAOS"), "%d,%d", &pictures, &repeats)
	for i := range repeats {
		t.Run(strconv.Itoa(i), func(t *testing.T) {
			t.Parallel()
			begin := time.Now()
			kills := chaos(t, pictures, n == 2, uint64(i))
			t.Logf("%d pictures, %d workers and %d servers killed, %.1f s", pictures, kills[1], kills[0],
				time.Since(begin).Seconds())
		})
	}
}

// sheet writes a picture that is different for each number.
func sheet(t *testing.T, path string, n int) {
	t.Helper()
	const w, h = 96, 80
	p := &processing.Picture{Width: w, Height: h, Channels: 1, U8: make([]uint8, w*h)}
	for i := range p.U8 {
		p.U8[i] = uint8(60 + i*7919%5)
	}
	p.U8[0], p.U8[1] = uint8(n), uint8(n>>8)
	x0, y0 := 10+n%70, 10+n%60
	for y := y0 - 1; y <= y0+1; y++ {
		for x := x0 - 1; x <= x0+1; x++ {
			p.U8[y*w+x] = 250
		}
	}
	if err := imagefile.WritePNG(t.Context(), path, imagefile.WriteOptions{}, p); err != nil {
		t.Fatal(err)
	}
}

// fullDisk returns a folder on a full file system, or an empty name if this user may not mount one.
func fullDisk(t *testing.T, dir string) string {
	t.Helper()
	if os.Mkdir(dir, 0o755) != nil || syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=64k") != nil {
		return ""
	}
	t.Cleanup(func() { _ = syscall.Unmount(dir, 2) })
	if err := os.WriteFile(filepath.Join(dir, "of others"), make([]byte, 64<<10), 0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}

// chaos returns how often the server and workers were killed.
func chaos(t *testing.T, pictures int, long bool, seed uint64) (kills [2]int) {
	t.Helper()
	dir := t.TempDir()
	in, out, direct := filepath.Join(dir, "in"), filepath.Join(dir, "out"), filepath.Join(dir, "direct")
	for _, d := range []string{in, out, direct} {
		if err := os.Mkdir(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for i := range pictures - 2 {
		sheet(t, filepath.Join(in, fmt.Sprintf("p%04d.png", i)), i)
	}
	sheet(t, filepath.Join(in, "missing.png"), pictures)
	if got := call(t, "correct", "-q", "-o", direct, filepath.Join(in, "p*.png")); got.status != exitDone {
		t.Fatalf("%+v", got)
	}
	sheet(t, filepath.Join(in, poison), pictures+1)

	where := address(t)
	patience := "1500ms"
	if !long {
		patience = "600ms"
	}
	server := &member{out: &lockedBuffer{}, args: []string{"farm", "serve", "--store", filepath.Join(dir, "store"),
		"--listen", where, "--page", "-", "--patience", patience}}
	join := []string{"--join", "nats://" + where}
	var workers []*member
	for i := range 3 {
		target := out
		if i == 2 {
			if target = fullDisk(t, filepath.Join(dir, "full")); target == "" {
				t.Log("no file system can be mounted here: no disk is full")
				target = out
			}
		}
		workers = append(workers, &member{out: &lockedBuffer{}, args: append([]string{"farm", "work", "--root", "in=" + in,
			"--output-root", "out=" + target, "--jobs", "1", "--name", "w" + strconv.Itoa(i)}, join...)})
	}
	server.begin(t)
	defer func() { server.kill() }()
	limit := 25 * time.Second
	if long {
		limit = 10 * time.Minute
	}
	parsed, err := farm.ParseJoin(join[1])
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	client, err := patient(ctx, parsed)
	if err != nil {
		t.Fatalf("%v: %s", err, server.out)
	}
	defer client.Close()
	said := &lockedBuffer{}
	submitted := start(t, said, append([]string{"--lang", "en", "farm", "submit", "--root", "in=" + in, "--root", "out=" + out,
		"-o", out, filepath.Join(in, "*.png")}, join...)...)
	if err := submitted.Wait(); err != nil || !strings.Contains(said.String(), fmt.Sprintf("files added: %d;", pictures)) {
		t.Fatalf("%v: %s", err, said)
	}
	id, _, _ := strings.Cut(strings.TrimPrefix(said.String(), "batch "), ":")
	if err := os.Remove(filepath.Join(in, "missing.png")); err != nil {
		t.Fatal(err)
	}

	for _, w := range workers {
		w.begin(t)
		defer func() { w.kill() }()
	}

	// Kill processes at random.
	rng := rand.New(rand.NewPCG(seed, 7))
	ended, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			wait := time.Duration(1+2*rng.Float64()) * time.Second
			if !long {
				wait = time.Duration((0.2 + 0.3*rng.Float64()) * float64(time.Second))
			}
			select {
			case <-ended:
				return
			case <-time.After(wait):
			}
			victim, which := server, 0
			if rng.IntN(3) > 0 {
				victim, which = workers[rng.IntN(len(workers))], 1
			}
			victim.kill()
			kills[which]++
			victim.begin(t)
			if !long && kills[0] > 0 && kills[1] > 1 {
				return
			}
		}
	}()
	end, err := client.Wait(ctx, id, 20*time.Millisecond, func(farm.BatchStatus, farm.Status) {}, func(error) {})
	close(ended)
	<-stopped
	if err != nil {
		st, _ := client.Status(t.Context(), id, 10)
		t.Fatalf("%v: %+v\n%s\n%s", err, st, server.out, workers[0].out)
	}
	judge(t, client, id, pictures, end, direct, out)
	return kills
}

// judge compares the results of a farm with those of direct runs.
func judge(t *testing.T, client *farm.Client, id string, pictures int, end farm.BatchStatus, direct, out string) {
	t.Helper()
	if end.Done != pictures-2 || end.Failed != 2 {
		st, _ := client.Status(t.Context(), id, 10)
		t.Fatalf("the end: %+v", st)
	}
	results := map[string]farm.Result{}
	read := func() error {
		clear(results)
		_, err := client.Results(t.Context(), id, 0, func(r farm.Result) error {
			name := filepath.Base(r.Job.In.Path)
			if _, twice := results[name]; twice {
				t.Errorf("two results of %s", name)
			}
			results[name] = r
			return nil
		})
		return err
	}
	// The last kill may have hit the server.
	for tick, try := time.NewTicker(100*time.Millisecond), 0; ; try++ {
		err := read()
		if err == nil {
			break
		}
		if try == 100 {
			t.Fatal(err)
		}
		<-tick.C
	}
	if len(results) != pictures {
		t.Errorf("%d results of %d", len(results), pictures)
	}
	if r := results[poison]; r.End != farm.Failed || r.Crashes != 2 || !strings.Contains(r.Log, "the last words") {
		t.Errorf("the poison: %+v", r)
	}
	if r := results["missing.png"]; r.End != farm.Failed || !strings.Contains(r.Sentence, "no such file") {
		t.Errorf("the missing file: %+v", r)
	}
	var want []string
	for _, name := range testpic.Listed(t, direct) {
		want = append(want, name)
		if strings.HasSuffix(name, ".png") {
			if !bytes.Equal(testpic.ReadFile(t, filepath.Join(direct, name)), testpic.ReadFile(t, filepath.Join(out, name))) {
				t.Errorf("%s differs from a direct run", name)
			}
			original := strings.Replace(name, "_corrected", "", 1)
			if r := results[original]; r.SHA256 != sum(t, filepath.Join(direct, name)) || r.Crashes != 0 {
				t.Errorf("the record of %s: %+v", name, r)
			}
		}
	}
	if got := testpic.Listed(t, out); !slices.Equal(got, want) {
		t.Errorf("the folder holds %v, want %v", got, want)
	}
}
