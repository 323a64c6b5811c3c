package work_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"blik/app/i18n"
	"blik/app/imagefile"
	"blik/app/work"
	"blik/internal/message"
	"blik/processing"
	"blik/processing/correct"
	"blik/processing/detect"
)

// engine finds one square of four pixels and makes it black.
type engine struct{ notice *message.Message }

func (e engine) Detect(_ context.Context, pic *processing.Picture, p processing.Params, o detect.Options) (
	*detect.Result, *message.Message, error,
) {
	o.Progress(message.Of("searching"), 1)
	mask := processing.NewMask(pic.Width, pic.Height)
	f := detect.Finding{ID: 1, Area: 4}
	for y := 5; y < 7; y++ {
		f.Runs = append(f.Runs, processing.Run{Y: y, X0: 5, X1: 7})
		mask.Pix[y*pic.Width+5], mask.Pix[y*pic.Width+6] = 255, 255
	}
	r := detect.Found{Mask: mask, Findings: []detect.Finding{f}, Params: p, Device: "test"}
	return &detect.Result{Found: r}, e.notice, nil
}

func (e engine) Correct(_ context.Context, pic *processing.Picture, m *processing.Mask, _ processing.Params,
	o correct.Options,
) (*correct.Correction, *message.Message, error) {
	o.Progress(message.Of("correcting"), 1)
	c := &correct.Correction{Device: "test"}
	if m.Area() != 4 || pic.Channels != 1 {
		return c, nil, nil
	}
	patch := processing.Patch{Spot: 1, Method: processing.MethodHarmonic, U8: make([]uint8, 4)}
	for y := 5; y < 7; y++ {
		patch.Runs = append(patch.Runs, processing.Run{Y: y, X0: 5, X1: 7})
	}
	c.Patches = append(c.Patches, patch)
	return c, nil, nil
}

// workshop returns a workshop for some work, and the path of a grey picture.
func workshop(t *testing.T, w work.Work) (*work.Workshop, string) {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, "a.png")
	pic := &processing.Picture{Width: 40, Height: 30, Channels: 1, U8: slices.Repeat([]uint8{100}, 40*30)}
	if err := imagefile.WritePNG(t.Context(), path, imagefile.WriteOptions{}, pic); err != nil {
		t.Fatal(err)
	}
	notice := message.Of("The GPU is tired.")
	folder, err := os.MkdirTemp(dir, "out")
	if err != nil {
		t.Fatal(err)
	}
	return &work.Workshop{
		Work: w, Engine: engine{&notice}, Folder: folder, Texts: i18n.For("en"), Program: "1",
		Now: func() time.Time { return time.Unix(0, 0) }, Inputs: work.Existing(path),
	}, path
}

// do does the work on a file and returns the names of the outputs. The share that is done only grows.
func do(t *testing.T, s *work.Workshop, path string) (work.Outcome, []string, error) {
	t.Helper()
	last := 0.0
	o, err := s.Do(t.Context(), path, func(_ message.Message, share float64) {
		if share < last || share > 1 {
			t.Errorf("the share %g after %g", share, last)
		}
		last = share
	}, nil)
	var names []string
	for _, output := range o.Outputs {
		if _, e := os.Stat(output); e != nil {
			t.Error(e)
		}
		names = append(names, filepath.Base(output))
	}
	return o, names, err
}

// The work on a file writes what is asked for, the result first, and never replaces a file without consent.
func TestDo(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		change func(*work.Work)
		want   []string
	}{
		{func(w *work.Work) { w.Detect = true }, []string{"a_mask.png", "a_findings.csv", "a_findings.json"}},
		{
			func(w *work.Work) { w.Detect, w.Marked, w.Preview = true, true, 20 },
			[]string{"a_mask.png", "a_preview.jpg", "a_marked.png", "a_findings.csv", "a_findings.json"},
		},
		{func(*work.Work) {}, []string{"a_corrected.png", "a_corrected.html", "a_corrected.json"}},
		{
			func(w *work.Work) { w.NoReport, w.SaveMask, w.Format = true, true, "tiff" },
			[]string{"a_corrected.tif", "a_mask.png"},
		},
	} {
		w := work.Default()
		c.change(&w)
		s, path := workshop(t, w)
		o, names, err := do(t, s, path)
		if err != nil || !slices.Equal(names, c.want) || len(o.Shown) != len(names) {
			t.Errorf("%+v: %v, %v, want %v", w, names, err, c.want)
			continue
		}
		if o.Device != "test" || o.Summary == "" || len(o.Remarks) != 1 || o.Found == nil || (o.Saved == nil) != w.Detect {
			t.Errorf("%+v", o)
		}
		if _, _, err := do(t, s, path); !errors.Is(err, imagefile.ErrExists) {
			t.Errorf("again: %v", err)
		}
		s.Work.Overwrite = true
		if _, _, err := do(t, s, path); err != nil {
			t.Errorf("again, with consent: %v", err)
		}
		s.Inputs = work.Existing(path, o.Outputs[0])
		if _, _, err := do(t, s, path); err == nil {
			t.Error("an input was replaced")
		}
	}
}
