package settings

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestSpeedsComeBack(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "new", "speeds.json")
	key := SpeedKey{Device: "A GPU", Driver: "12.8", Threads: 4, Program: "1"}
	if s, found := FindSpeed(path, key); found {
		t.Errorf("of no file: %+v", s)
	}
	want := Speed{SpeedKey: key, Open: time.Second, CPU: Line{1, 2}, GPU: Line{3, 4}}
	if err := SaveSpeed(path, want); err != nil {
		t.Fatal(err)
	}
	if got, found := FindSpeed(path, key); !found || got != want {
		t.Errorf("came back as %+v, %v", got, found)
	}
	for _, other := range []SpeedKey{
		{"Another", "12.8", 4, "1"}, {"A GPU", "13.0", 4, "1"}, {"A GPU", "12.8", 8, "1"}, {"A GPU", "12.8", 4, "2"},
	} {
		if got, found := FindSpeed(path, other); found {
			t.Errorf("%+v has the measurement of another: %+v", other, got)
		}
	}
	// A new build of the program measures again, and the old measurement goes.
	next := want
	next.Program, next.Open = "2", 2*time.Second
	if err := SaveSpeed(path, next); err != nil {
		t.Fatal(err)
	}
	if _, found := FindSpeed(path, key); found {
		t.Error("the measurement of the old program is still there")
	}
	if got, found := FindSpeed(path, next.SpeedKey); !found || got != next {
		t.Errorf("the new one is %+v, %v", got, found)
	}
	for i := range 3 * maxSpeeds {
		next.Device = fmt.Sprint(i)
		if err := SaveSpeed(path, next); err != nil {
			t.Fatal(err)
		}
	}
	if list := speeds(path); len(list) != maxSpeeds || list[maxSpeeds-1] != next {
		t.Errorf("%d are kept", len(list))
	}
}

func TestDamagedSpeedsAreMeasuredAgain(t *testing.T) {
	t.Parallel()
	key := SpeedKey{Device: "A GPU"}
	for _, content := range []string{"", "{", `{"a": 1}`, `[{"device": "A GPU", "open": -1}]`, `[{"device": 3}]`} {
		path := filepath.Join(t.TempDir(), "speeds.json")
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if s, found := FindSpeed(path, key); found {
			t.Errorf("%q holds %+v", content, s)
		}
		if err := SaveSpeed(path, Speed{SpeedKey: key, Open: 1}); err != nil {
			t.Error(err)
		}
		if s, found := FindSpeed(path, key); !found || s.Open != 1 {
			t.Errorf("%q could not be replaced: %+v", content, s)
		}
	}
	// A folder in the file's place.
	path := filepath.Join(t.TempDir(), "speeds.json")
	if err := os.MkdirAll(filepath.Join(path, "x"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := SaveSpeed(path, Speed{}); err == nil || !strings.HasPrefix(err.Error(), "save the speeds of devices: ") {
		t.Errorf("SaveSpeed = %v", err)
	}
}

// From is the smallest picture that the lines say is not slower on the GPU.
func TestSpeedFrom(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		cpu, gpu Line
		want     int
	}{
		{Line{0, 100}, Line{50, 50}, 1e6},
		{Line{0, 100}, Line{1, 0}, 1e4},
		{Line{5, 100}, Line{5, 10}, 0},
		{Line{5, 10}, Line{5, 10}, 0},
		{Line{5, 10}, Line{6, 10}, math.MaxInt},
		{Line{5, 10}, Line{6, 11}, math.MaxInt},
		{Line{5, 10}, Line{4, 11}, math.MaxInt},
	} {
		if got := (Speed{CPU: c.cpu, GPU: c.gpu}).From(); got != c.want {
			t.Errorf("%+v against %+v: from %d pixels, want %d", c.gpu, c.cpu, got, c.want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		duration := rapid.Map(rapid.IntRange(0, 1000), func(n int) time.Duration { return time.Duration(n) * time.Microsecond })
		s := Speed{CPU: Line{duration.Draw(t, "cpu"), duration.Draw(t, "cpu mp")}, GPU: Line{duration.Draw(t, "gpu"), duration.Draw(t, "gpu mp")}}
		if s.CPU.Megapixel <= s.GPU.Megapixel {
			return
		}
		// Times are rounded to nanoseconds.
		n := s.From()
		if s.GPU.At(n) > s.CPU.At(n)+1 {
			t.Errorf("the GPU is slower at %d pixels", n)
		}
		if n > 1 && s.GPU.At(n/2) < s.CPU.At(n/2)-1 {
			t.Errorf("the GPU is faster at %d pixels already", n/2)
		}
	})
}

func TestLineThrough(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, at, b, bt int
		want         Line
	}{
		{1000, 5000, 2000, 6000, Line{4000, 1e6}},
		{1000, 5000, 2000, 4000, Line{5000, 0}},
		{1000, 1000, 2000, 9000, Line{0, 8e6}},
	} {
		if got := LineThrough(c.a, time.Duration(c.at), c.b, time.Duration(c.bt)); got != c.want {
			t.Errorf("through %v: %+v, want %+v", c, got, c.want)
		}
	}
}
