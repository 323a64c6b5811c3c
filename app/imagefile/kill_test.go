package imagefile

import (
	"bytes"
	"context"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"blik/internal/test/testpic"
)

// TestKilledWhileSaving kills a process that repeatedly saves a picture over itself, at random moments. Each time the
// file must be one of two versions, byte for byte, and leftovers of killed runs must not disturb later ones.
func TestKilledWhileSaving(t *testing.T) {
	const variable = "BLIK_TEST_SAVE"
	if path := os.Getenv(variable); path != "" {
		saveForever(path)
	}
	testpic.NoRace(t)
	kills := 100
	if testing.Short() {
		kills = 50
	}
	dir := t.TempDir()
	f := tiffScan(t, dir, "a.tif", 400, 300)
	first := testpic.ReadFile(t, f.Path)
	begin := time.Now()
	if _, err := Save(t.Context(), f, f.Path, dot(f.Picture, 5, 5), SaveOptions{Overwrite: true}); err != nil {
		t.Fatal(err)
	}
	duration := time.Since(begin)
	second := testpic.ReadFile(t, f.Path)
	if bytes.Equal(first, second) {
		t.Fatal("saving changed nothing")
	}
	var seen [2]int
	within := 0
	rng := rand.New(rand.NewPCG(41, 42))
	for i := range kills {
		child := exec.Command(os.Args[0], "-test.run=^TestKilledWhileSaving$")
		child.Env = append(os.Environ(), variable+"="+f.Path)
		pipe, err := child.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := child.Start(); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(pipe, make([]byte, len(saysSaving))); err != nil {
			t.Fatalf("run %d did not begin: %v", i, err)
		}
		time.Sleep(time.Duration(rng.Int64N(int64(2 * duration))))
		if err := child.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		said, err := io.ReadAll(pipe)
		if err != nil {
			t.Fatal(err)
		}
		if err := child.Wait(); err == nil || child.ProcessState.Exited() {
			t.Fatalf("run %d ended by itself: %v, %s", i, err, said)
		}
		if !bytes.HasSuffix(said, []byte(saysSaved)) {
			within++
		}
		switch data := testpic.ReadFile(t, f.Path); {
		case bytes.Equal(data, first):
			seen[0]++
		case bytes.Equal(data, second):
			seen[1]++
		default:
			t.Fatalf("after kill %d the file is neither the old nor the new one: %d bytes", i, len(data))
		}
	}
	t.Logf("%d kills: %d times one file, %d times the other; %d were within saving", kills, seen[0], seen[1], within)
	if within == 0 {
		t.Error("the kills did not come while files were saved; this test shows nothing")
	}
}

// What a saving process prints before and after each file.
const (
	saysSaving = "("
	saysSaved  = ")"
)

// saveForever repeatedly saves the picture at path over itself, with one pixel alternating between two values, and
// prints when it saves.
func saveForever(path string) {
	ctx := context.Background()
	for {
		f, err := Read(ctx, path, DefaultLimits())
		if err == nil {
			os.Stdout.WriteString(saysSaving)
			_, err = Save(ctx, f, path, dot(f.Picture, 5, 5), SaveOptions{Overwrite: true, SkipProof: rand.N(2) == 0})
			os.Stdout.WriteString(saysSaved)
		}
		if err != nil {
			os.Stdout.WriteString(strings.ToUpper(err.Error()))
			os.Exit(1)
		}
	}
}
