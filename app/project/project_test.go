package project

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"image"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"blik/app/document"
	"blik/app/imagefile"
	"blik/app/preset"
	"blik/internal/test/testpic"
	"blik/processing"
	"blik/processing/correct"
	"blik/processing/detect"
)

// worked returns a document with every kind of work.
func worked(t testing.TB, depth int) *document.Document {
	t.Helper()
	d, err := document.New("/a.tif", testpic.Painted(90, 70, 3, depth))
	if err != nil {
		t.Fatal(err)
	}
	r := &detect.Found{Device: "cpu", Mask: processing.NewMask(90, 70), Params: processing.DefaultParams()}
	for id, at := range []image.Point{{5, 4}, {40, 20}, {80, 60}} {
		r.Mask.Pix[at.Y*90+at.X] = 255
		r.Findings = append(r.Findings, detect.Finding{ID: id + 1, X: float64(at.X), Y: float64(at.Y), Left: at.X,
			Top: at.Y, Width: 1, Height: 1, Area: 1, Score: 2.5, Elongation: 1,
			Evidence: detect.Evidence{Strength: 4, Rise: 90, Shares: [4]float64{0.8, 0.2}, Certainty: 0.9},
			Runs:     []processing.Run{{Y: at.Y, X0: at.X, X1: at.X + 1}}})
	}
	if _, err := d.ApplyResult(r, nil); err != nil {
		t.Fatal(err)
	}
	d.Keep(d.Spots()[:1])
	d.Ignore(d.Spots()[1:2])
	d.BeginStroke(document.Brush{Radius: 4, Soft: 0.5}, 20, 50)
	d.EndStroke()
	if s, ok := d.SpotAt(20, 50); !ok || s.Number != 4 {
		t.Fatalf("what was painted is %+v; want number 4", s)
	}
	spots := processing.Spots(d.Mask())
	c := &correct.Correction{Device: "cpu"}
	for i := range spots {
		p := processing.Patch{Spot: spots[i].ID, Method: processing.MethodExemplar, Runs: spots[i].Runs}
		n := 0
		for _, r := range p.Runs {
			n += 3 * (r.X1 - r.X0)
		}
		for k := range n {
			if depth == 8 {
				p.U8 = append(p.U8, uint8(k))
			} else {
				p.U16 = append(p.U16, uint16(300*k))
			}
		}
		c.Patches = append(c.Patches, p)
	}
	spots[0].Method = processing.MethodExemplar
	if err := d.ApplyCorrection(c, spots, processing.DefaultParams()); err != nil {
		t.Fatal(err)
	}
	if err := d.SetRegion(&processing.Region{Shape: processing.EllipseShape,
		Points: []processing.Point{{X: 3, Y: 4}, {X: 60.5, Y: 40}}}); err != nil {
		t.Fatal(err)
	}
	return d
}

// Saved work is restored completely in another document of the same picture, and saving it again gives the same.
func TestProject(t *testing.T) {
	t.Parallel()
	for _, depth := range []int{8, 16} {
		picture := filepath.Join(t.TempDir(), "a.tif")
		d := worked(t, depth)
		want := &Project{Checksum: 123, Date: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Saved: true,
			Params: processing.DefaultParams(), Work: d.Snapshot().Work()}
		want.Params.Sensitivity = 1.5
		for range 2 {
			// The second time it replaces the first.
			if err := Write(t.Context(), picture, want, Options{Overwrite: true}); err != nil {
				t.Fatal(err)
			}
		}
		got, err := Read(t.Context(), picture, imagefile.DefaultLimits())
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%d bits: read\n%+v, want\n%+v", depth, got, want)
		}
		other, err := document.New("/a.tif", testpic.Painted(90, 70, 3, depth))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := other.Restore(got.Work); err != nil {
			t.Fatal(err)
		}
		if work := other.Snapshot().Work(); !reflect.DeepEqual(work, want.Work) {
			t.Errorf("%d bits: restored\n%+v, want\n%+v", depth, work, want.Work)
		}
		if s, _ := other.SpotAt(20, 50); s.Number != 4 {
			t.Errorf("what was painted is number %d; want 4", s.Number)
		}
		if n := len(other.Ignored()); n != 1 {
			t.Errorf("%d findings are ignored", n)
		}
	}
}

// A damaged, newer or foreign project is rejected with a sentence, and nothing of it is used.
func TestDamagedProject(t *testing.T) {
	t.Parallel()
	d := worked(t, 8)
	p := &Project{Params: processing.DefaultParams(), Work: d.Snapshot().Work()}
	f, err := p.file("a.tif")
	if err != nil {
		t.Fatal(err)
	}
	whole, err := json.Marshal(f)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := decode(whole, 1e6); err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(whole); i += 7 {
		if _, _, err := decode(whole[:i], 1e6); err == nil {
			t.Fatalf("cut at %d: read", i)
		}
		changed := bytes.Clone(whole)
		changed[i] ^= 5
		if p, size, err := decode(changed, 1e6); err == nil {
			// What can still be read is consistent, and a document accepts or rejects it.
			p.Work.Mask = processing.NewMask(max(min(size.X, 200), 1), max(min(size.Y, 200), 1))
			if other, err := document.New("", testpic.Painted(90, 70, 3, 8)); err == nil {
				_, _ = other.Restore(p.Work)
			}
		}
	}
	edit := func(from, to string) []byte {
		if !bytes.Contains(whole, []byte(from)) {
			t.Fatalf("the project holds no %s", from)
		}
		return bytes.Replace(whole, []byte(from), []byte(to), 1)
	}
	for name, data := range map[string][]byte{
		"nothing": nil, "another format": edit(format, "blik preset"), "a list": []byte("[]"),
		"no size": edit(`"width":90`, `"width":0`), "a larger picture": edit(`"width":90`, `"width":91`),
		"a huge picture": edit(`"width":90`, `"width":999999999999`), "half a place": edit(`"kept":[`, `"kept":[1,`),
		"another depth": edit(`"depth":8`, `"depth":7`), "no such method": edit(`"asked":`, `"asked":9`),
		"no such origin": edit(`"made":0`, `"made":7`),
	} {
		if _, _, err := decode(data, 1e6); err == nil {
			t.Errorf("%s: read", name)
		}
	}
	// A small file can claim, and hold, masks of any size.
	if _, _, err := decode(whole, 90*70-1); err == nil {
		t.Error("a picture beyond the limit: read")
	}
	if _, _, err := decode(edit(`"version":1`, `"version":2`), 1e6); !errors.Is(err, preset.ErrNewer) ||
		!strings.Contains(err.Error(), "version 2, written by a newer Blik") {
		t.Errorf("a newer version: %v", err)
	}
}

// FuzzDecode checks that a document takes what is read of any project, or refuses it.
func FuzzDecode(f *testing.F) {
	for _, depth := range []int{8, 16} {
		p := &Project{Params: processing.DefaultParams(), Work: worked(f, depth).Snapshot().Work()}
		file, err := p.file("a.tif")
		if err != nil {
			f.Fatal(err)
		}
		data, err := json.Marshal(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		p, size, err := decode(data, 1e6)
		if err != nil {
			return
		}
		p.Work.Mask = processing.NewMask(size.X, size.Y)
		for _, depth := range []int{8, 16} {
			d, err := document.New("", testpic.Painted(90, 70, 3, depth))
			if err != nil {
				t.Fatal(err)
			}
			_, _ = d.Restore(p.Work)
		}
	})
}

// Methods keep their numbers in files; those that no longer exist are read as harmonic, with a remark.
func TestFormerMethods(t *testing.T) {
	t.Parallel()
	p := &Project{Params: processing.DefaultParams(), Work: worked(t, 8).Snapshot().Work()}
	f, err := p.file("a.tif")
	if err != nil {
		t.Fatal(err)
	}
	if c := f.Corrections[0]; c.Asked != 7 || c.Method != 7 {
		t.Errorf("exemplar has the numbers %d and %d", c.Asked, c.Method)
	}
	for i := range f.Corrections {
		f.Corrections[i].Asked, f.Corrections[i].Method = 6, 6
	}
	data, err := json.Marshal(f)
	if err != nil {
		t.Fatal(err)
	}
	old, _, err := decode(data, 1e6)
	if err != nil || !strings.Contains(old.Remark.String(), "listed as harmonic") {
		t.Fatalf("%v, remark %q", err, old.Remark)
	}
	for i, s := range old.Work.Spots {
		if s.Method != processing.MethodHarmonic || old.Work.Patches[i].Method != processing.MethodHarmonic {
			t.Errorf("correction %d is asked for by %v and made by %v", i, s.Method.ID(), old.Work.Patches[i].Method.ID())
		}
	}
}

// The mask of another size is refused, a project that does not exist is fs.ErrNotExist, and one that is cancelled
// leaves what was there.
func TestProjectFiles(t *testing.T) {
	t.Parallel()
	picture := filepath.Join(t.TempDir(), "a.tif")
	if _, err := Read(t.Context(), picture, imagefile.DefaultLimits()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no project: %v", err)
	}
	p := &Project{Params: processing.DefaultParams(), Work: worked(t, 8).Snapshot().Work()}
	if err := Write(t.Context(), picture, p, Options{}); err != nil {
		t.Fatal(err)
	}
	path, mask := Paths(picture)
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	p.Saved = true
	if err := Write(ctx, picture, p, Options{Overwrite: true}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if after, err := os.ReadFile(path); err != nil || !bytes.Equal(after, before) {
		t.Errorf("a cancelled writing changed the project: %v", err)
	}
	o := imagefile.WriteOptions{Overwrite: true}
	if err := imagefile.WriteMask(t.Context(), mask, o, processing.NewMask(3, 3)); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(t.Context(), picture, imagefile.DefaultLimits()); err == nil {
		t.Error("a mask of another size is read")
	}
	for path, want := range map[string]string{
		"/x/a.tif.blik.json": "/x/a.tif", "/x/.blik.json": "", "a.json": "", "/x/blik/a.tif.blik.json": "/x/a.tif",
		"blik/a.tif.blik.json": "a.tif", "/x/blik/.blik.json": "",
	} {
		if got, ok := PictureOf(path); got != want || ok != (want != "") {
			t.Errorf("%s is the project of %q", path, got)
		}
	}
}

// Where no folder can be made, the error says so in one sentence.
func TestFolderCannotBeMade(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(dir, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	p := &Project{Params: processing.DefaultParams(), Work: document.Work{Mask: processing.NewMask(3, 2)}}
	err := Write(t.Context(), filepath.Join(dir, "a.tif"), p, Options{})
	var made *imagefile.Error
	if !errors.As(err, &made) || made.Path != filepath.Join(dir, "a.tif.blik.json") {
		t.Errorf("the error is %v", err)
	}
}

// Where a file has the name of the folder, such as the program, a project lies beside its picture.
func TestFileInPlaceOfTheFolder(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "blik"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	picture := filepath.Join(dir, "a.tif")
	if _, err := Read(t.Context(), picture, imagefile.DefaultLimits()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no project: %v", err)
	}
	p := &Project{Params: processing.DefaultParams(), Work: document.Work{Mask: processing.NewMask(3, 2)}}
	if err := Write(t.Context(), picture, p, Options{}); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(picture + ".blik.json"); err != nil {
		t.Error(err)
	}
	if _, err := Read(t.Context(), picture, imagefile.DefaultLimits()); err != nil {
		t.Error(err)
	}
}

// A project lies in a folder beside its picture, but one of an earlier version stays where it is.
func TestPlaces(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "blik")
	picture := filepath.Join(dir, "a.tif")
	path, mask := Paths(picture)
	if path != filepath.Join(dir, "blik", "a.tif.blik.json") || mask != filepath.Join(dir, "blik", "a.tif.blik.png") {
		t.Errorf("a new project gets %s and %s", path, mask)
	}
	p := &Project{Params: processing.DefaultParams(), Work: document.Work{Mask: processing.NewMask(3, 2)}}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := Write(t.Context(), picture, p, Options{}); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(t.Context(), picture, imagefile.DefaultLimits()); err != nil {
		t.Error(err)
	}
	if got, ok := PictureOf(path); got != picture || !ok {
		t.Errorf("%s is the project of %s", path, got)
	}
	for from, to := range map[string]string{path: picture + ".blik.json", mask: picture + ".blik.png"} {
		if err := os.Rename(from, to); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(picture, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Write(t.Context(), picture, p, Options{Overwrite: true}); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(t.Context(), picture, imagefile.DefaultLimits()); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("the project of an earlier version has a second one in the folder")
	}
	if got, ok := PictureOf(picture + ".blik.json"); got != picture || !ok {
		t.Errorf("the old project in a folder of that name is that of %s", got)
	}
}
