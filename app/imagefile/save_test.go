package imagefile

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"image/png"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"blik/app/imagefile/container"
	"blik/internal/atomicfile"
	"blik/internal/message"
	"blik/internal/test/testpic"
	"blik/processing"
)

// dot is a patch that changes the pixel at (x, y) in its last channel to an odd value.
func dot(pic *processing.Picture, x, y int) []processing.Patch {
	at := (y*pic.Width + x) * pic.Channels
	p := processing.Patch{Spot: 1, Runs: []processing.Run{{Y: y, X0: x, X1: x + 1}}}
	last := pic.Channels - 1
	switch {
	case pic.U8 != nil:
		p.U8 = slices.Clone(pic.U8[at : at+pic.Channels])
		p.U8[last] ^= 0x55
	case pic.U16 != nil:
		p.U16 = slices.Clone(pic.U16[at : at+pic.Channels])
		p.U16[last] ^= 0x1235
	default:
		p.F32 = slices.Clone(pic.F32[at : at+pic.Channels])
		p.F32[last] += 0.125
	}
	return []processing.Patch{p}
}

func sumOf(data []byte) string {
	s := sha256.Sum256(data)
	return hex.EncodeToString(s[:])
}

// opened copies a file into a folder of the test and reads it.
func opened(t testing.TB, path string) *File {
	t.Helper()
	copied := filepath.Join(t.TempDir(), filepath.Base(path))
	if err := os.WriteFile(copied, testpic.ReadFile(t, path), 0o640); err != nil {
		t.Fatal(err)
	}
	f, err := Read(t.Context(), copied, DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// samples are the pictures of ../shared/data/io-samples.
func samples(t *testing.T) []string {
	t.Helper()
	return testpic.SharedFiles(t, "io-samples/*.tif", "io-samples/*.tiff", "io-samples/*.png", "io-samples/*.jpg")
}

// Every sample is opened, changed in one pixel, saved with the default options and opened again. It may differ only in
// that pixel; this package, an independent decoder and exiftool must agree.
func TestSaveSamples(t *testing.T) {
	var trips []trip
	for i, path := range samples(t) {
		if testing.Short() && i%3 != 0 {
			continue
		}
		f := opened(t, path)
		x, y := f.Picture.Width/2, f.Picture.Height/2
		target := DefaultName(f.Path, f.SaveFormat())
		saved, err := Save(t.Context(), f, target, dot(f.Picture, x, y), SaveOptions{})
		if err != nil {
			t.Error(err)
			continue
		}
		trips = append(trips, trip{f, target, x, y})
		name := filepath.Base(path)
		account(t, f, saved)
		if !saved.Proof.Holds() || saved.Proof.Changed != 1 || saved.PixelsChanged != 1 || saved.Proof.MaskArea != 1 {
			t.Errorf("%s: the proof: %+v: %s", name, saved.Proof, saved.Proof.Statement().String())
		}
		mask := processing.NewMask(f.Picture.Width, f.Picture.Height)
		mask.Pix[y*mask.Width+x] = 255
		proof, err := prove(t.Context(), f.Path, target, mask, DefaultLimits())
		if err != nil || !proof.Holds() || proof.Changed != 1 || proof.Outside != 0 {
			t.Errorf("%s: Verify: %+v, %v", name, proof, err)
		}
		if plain := saved.Method == Patched && f.Info.Compression == "none" && f.Depth >= 8; plain {
			if !proof.ByByte || proof.BytesOutside != 0 || proof.BytesChanged < 1 || proof.BytesChanged > 4 {
				t.Errorf("%s: byte by byte: %+v", name, proof)
			}
		}
		mask.Pix[y*mask.Width+x] = 0
		if proof, err = prove(t.Context(), f.Path, target, mask, DefaultLimits()); err != nil || proof.Holds() ||
			proof.Outside != 1 || !slices.Equal(proof.First, []Position{{x, y}}) {
			t.Errorf("%s: with an empty mask: %+v, %v", name, proof, err)
		}
		same, err := Save(t.Context(), f, filepath.Join(t.TempDir(), "same"+filepath.Ext(f.Path)), nil, SaveOptions{})
		if err != nil || same.Method != Copied || same.PixelsChanged != 0 || same.SHA256 != same.SourceSHA256 ||
			!bytes.Equal(testpic.ReadFile(t, same.Path), testpic.ReadFile(t, f.Path)) || !same.Proof.Holds() {
			t.Errorf("%s: nothing changed: %+v, %v", name, same, err)
		}
	}
	if testing.Short() {
		return // Python and Perl are slow to start
	}
	t.Run("decoded by OpenCV", func(t *testing.T) { onlyPixels(t, trips) })
	t.Run("read by exiftool", func(t *testing.T) { sameTags(t, trips) })
}

// trip is a source, its result, and the one pixel that was changed.
type trip struct {
	f      *File
	target string
	x, y   int
}

// account compares Saved with the files.
func account(t *testing.T, f *File, saved *Saved) {
	t.Helper()
	data := testpic.ReadFile(t, saved.Path)
	if saved.SourceSHA256 != sumOf(testpic.ReadFile(t, f.Path)) || saved.SHA256 != sumOf(data) || saved.Bytes != int64(len(data)) {
		t.Errorf("sums or size are wrong: %+v", saved)
	}
	want := map[Format]SaveMethod{TIFF: Patched, PNG: Rewritten, JPEG: NewFile}[f.Format]
	if saved.Method != want || saved.Lossy || saved.Format != f.SaveFormat() {
		t.Errorf("saved as %s, %s, lossy %t; want %s", saved.Format, saved.Method, saved.Lossy, want)
	}
	// On Windows, permissions only say whether a file may be written.
	if info, err := os.Stat(saved.Path); err != nil || info.Mode().Perm() != 0o640 && runtime.GOOS != "windows" {
		t.Errorf("permissions %v, %v; want those of the source", info.Mode(), err)
	}
	onlyFiles(t, filepath.Dir(saved.Path), filepath.Base(f.Path), filepath.Base(saved.Path))
}

func onlyFiles(t *testing.T, dir string, names ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(names)
	var got []string
	for _, e := range entries {
		got = append(got, e.Name())
	}
	if !slices.Equal(got, slices.Compact(names)) {
		t.Errorf("the folder holds %q, want %q", got, names)
	}
}

// onlyPixels decodes sources and results with OpenCV and checks that exactly one pixel of each changed.
func onlyPixels(t *testing.T, trips []trip) {
	const script = `
import sys, numpy as np, cv2
def load(path):
    m = cv2.imread(path, cv2.IMREAD_UNCHANGED | cv2.IMREAD_IGNORE_ORIENTATION)
    return m if m is None else m.reshape(m.shape[0], m.shape[1], -1)
for a, b in zip(sys.argv[1::2], sys.argv[2::2]):
    a, b = load(a), load(b)
    if a is None or b is None:
        print("unread")
    elif a.shape != b.shape or a.dtype != b.dtype:
        print("shape", a.shape, a.dtype, b.shape, b.dtype)
    else:
        print([(int(x), int(y)) for y, x in np.argwhere((a != b).any(axis=2))][:5])
`
	args := []string{"-c", script}
	for _, tr := range trips {
		args = append(args, tr.f.Path, tr.target)
	}
	out, err := exec.Command(testpic.Python(t, "cv2", "numpy"), args...).Output()
	if err != nil {
		t.Fatal(err)
	}
	read := 0
	for i, got := range strings.Split(strings.TrimSpace(string(out)), "\n") {
		tr := trips[i]
		name := filepath.Base(tr.target)
		switch {
		case got == "unread":
			t.Logf("%s: not read by OpenCV", name)
		case tr.f.Format == JPEG && (tr.f.Info.Channels() == 4 || tr.f.Orientation != 1):
			// OpenCV converts CMYK to RGB, and rotates TIFFs even when it does not rotate JPEGs.
		case got != fmt.Sprintf("[(%d, %d)]", tr.x, tr.y):
			t.Errorf("%s: an independent decoder finds changed: %s, want %d, %d alone", name, got, tr.x, tr.y)
		default:
			read++
		}
	}
	t.Logf("%d of %d files compared", read, len(trips))
}

// sameTags compares everything that exiftool reports about sources and results.
func sameTags(t *testing.T, trips []trip) {
	args := []string{"-j", "-G1", "-a", "-u", "-x", "System:all", "-x", "ExifTool:all"}
	for _, tr := range trips {
		args = append(args, tr.f.Path, tr.target)
	}
	out, err := exec.Command(testpic.Program(t, "exiftool"), args...).Output()
	if len(out) == 0 {
		t.Fatal(err)
	}
	var all []map[string]any
	if err := json.Unmarshal(out, &all); err != nil || len(all) != 2*len(trips) {
		t.Fatalf("exiftool: %d answers, %v", len(all), err)
	}
	for i, tr := range trips {
		a, b := all[2*i], all[2*i+1]
		delete(a, "SourceFile")
		delete(b, "SourceFile")
		if tr.f.SaveFormat() != tr.f.Format {
			sameOfEXIF(t, tr, a, b)
			continue
		}
		// The location of the samples may differ, and so may tags of a palette or of few bits, which were expanded.
		free := []string{"IFD0:StripOffsets", "IFD0:StripByteCounts", "IFD0:TileOffsets", "IFD0:TileByteCounts"}
		if tr.f.Depth < 8 || tr.f.Info.Colour == container.Palette {
			free = append(free, "IFD0:BitsPerSample", "IFD0:PhotometricInterpretation", "IFD0:SamplesPerPixel", "IFD0:ColorMap",
				"IFD0:Compression", "IFD0:RowsPerStrip", "IFD0:PlanarConfiguration", "PNG:BitDepth", "PNG:ColorType", "PNG:Palette")
		}
		for _, name := range free {
			delete(a, name)
			delete(b, name)
		}
		for _, name := range slices.Sorted(maps.Keys(a)) {
			if !reflect.DeepEqual(a[name], b[name]) {
				t.Errorf("%s: %s: %v became %v", tr.f.Path, name, a[name], b[name])
			}
		}
		for name := range b {
			if _, ok := a[name]; !ok {
				t.Errorf("%s: %s appeared: %v", tr.f.Path, name, b[name])
			}
		}
	}
}

// sameOfEXIF checks that every tag of EXIF, GPS, XMP, IPTC and the profile has the same value in another container.
func sameOfEXIF(t *testing.T, tr trip, a, b map[string]any) {
	t.Helper()
	for _, name := range slices.Sorted(maps.Keys(a)) {
		group, tag, _ := strings.Cut(name, ":")
		carried := slices.Contains([]string{"ExifIFD", "GPS", "InteropIFD", "IPTC", "IFD0"}, group) || strings.HasPrefix(group, "XMP") || strings.HasPrefix(group, "ICC")
		// The chroma subsampling of a JPEG has no meaning in an RGB picture.
		if !carried || strings.HasPrefix(tag, "YCbCr") || tag == "ExifOffset" {
			continue
		}
		if !reflect.DeepEqual(a[name], b[name]) {
			t.Errorf("%s: %s: %v became %v", tr.f.Path, name, a[name], b[name])
		}
	}
}

// A JPEG is saved as JPEG only with permission, and then only the blocks of the changed pixel differ.
func TestSaveJPEG(t *testing.T) {
	f := opened(t, testpic.Shared(t, "io-samples/Landscape_6.jpg"))
	target := filepath.Join(t.TempDir(), "a.jpg")
	patches := dot(f.Picture, 100, 50)
	if _, err := Save(t.Context(), f, target, patches, SaveOptions{}); !errors.Is(err, ErrLossy) {
		t.Errorf("without leave: %v", err)
	}
	patches[0].U8 = []uint8{0, 255, 0}
	saved, err := Save(t.Context(), f, target, patches, SaveOptions{AllowLossy: true})
	if err != nil {
		t.Fatal(err)
	}
	if !saved.Lossy || saved.Method != Rewritten || saved.Format != JPEG || len(saved.Proof.Differs) != 0 {
		t.Errorf("%+v, %+v", saved, saved.Proof)
	}
	if p := saved.Proof; !p.Holds() || p.Changed == 0 || p.Changed > 32*32 || p.Outside != 0 || p.Beside == 0 ||
		p.Blocks.Changed == 0 || p.Blocks.Changed > 12 || p.Blocks.Total < 100 {
		t.Errorf("a JPEG's proof should tell the block that changed: %+v", p)
	}
	toPNG := filepath.Join(t.TempDir(), "b.png")
	if saved, err = Save(t.Context(), f, toPNG, patches, SaveOptions{}); err != nil || saved.Method != NewFile || saved.Format != PNG || !saved.Proof.Holds() {
		t.Errorf("as PNG: %+v, %v", saved, err)
	}
	plain := filepath.Join(t.TempDir(), "no extension")
	if saved, err = Save(t.Context(), f, plain, patches, SaveOptions{}); err != nil || saved.Format != TIFF {
		t.Errorf("without an extension: %+v, %v", saved, err)
	}
}

// A TIFF with JPEG compression stores the decoded picture anew, in which only the changed pixel differs.
func TestSaveJPEGInTIFF(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.tif")
	tiffcp := exec.Command(testpic.Program(t, "tiffcp"), "-c", "jpeg", "-r", "16", testpic.Shared(t, "io-samples/rgb-3c-8b.tiff"), path)
	testpic.Need(t, tiffcp.Run() == nil, "a tiffcp that writes JPEG")
	f, err := Read(t.Context(), path, DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	saved, err := Save(t.Context(), f, DefaultName(path, TIFF), dot(f.Picture, 9, 9), SaveOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if saved.Method != Patched || saved.Format != TIFF || saved.Lossy || !saved.Proof.Holds() || saved.Proof.Changed != 1 {
		t.Errorf("%+v, %+v", saved, saved.Proof)
	}
	if proof, err := prove(t.Context(), path, saved.Path, nil, DefaultLimits()); err != nil || !proof.Holds() || proof.Changed != 1 {
		t.Errorf("Verify: %+v, %v", proof, err)
	}
}

// tiffScan writes an uncompressed 16-bit RGB TIFF of w × h pixels and reads it.
func tiffScan(t testing.TB, dir, name string, w, h int) *File {
	t.Helper()
	pic := &processing.Picture{Width: w, Height: h, Channels: 3, U16: make([]uint16, 3*w*h)}
	for i := range pic.U16 {
		pic.U16[i] = uint16(i*2654435761>>7) | 1
	}
	path := filepath.Join(dir, name)
	err := WriteFile(t.Context(), path, WriteOptions{Overwrite: true}, func(out io.Writer) error { return TIFF.row().encode(t.Context(), out, pic, container.Metadata{}) })
	if err != nil {
		t.Fatal(err)
	}
	f, err := Read(t.Context(), path, DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// Unusual file names, and links.
func TestSaveNames(t *testing.T) {
	for _, name := range []string{"a name with spaces.tif", "Блик — «Закат».TIF", "no extension", ".tif", "é́.tiff", "a.b.c.tif",
		strings.Repeat("ж", 118) + ".tif"} {
		dir := t.TempDir()
		f := tiffScan(t, dir, name, 7, 5)
		target := DefaultName(f.Path, f.SaveFormat())
		saved, err := Save(t.Context(), f, target, dot(f.Picture, 3, 2), SaveOptions{KeepTime: true})
		if err != nil {
			t.Errorf("%q: %v", name, err)
			continue
		}
		onlyFiles(t, dir, name, filepath.Base(target))
		if info, err := os.Stat(saved.Path); err != nil || !info.ModTime().Equal(f.Modified) {
			t.Errorf("%q: the time is not kept: %v", name, err)
		}
	}
	for _, c := range []struct {
		path   string
		format Format
		want   string
	}{
		{"/a/scan.tif", TIFF, "/a/scan_corrected.tif"},
		{"scan.TIFF", TIFF, "scan_corrected.TIFF"},
		{"scan.jpg", TIFF, "scan_corrected.tif"},
		{"scan.jpg", PNG, "scan_corrected.png"},
		{"scan.jpeg", JPEG, "scan_corrected.jpeg"},
		{"scan", TIFF, "scan_corrected.tif"},
		{"scan.v2", PNG, "scan_corrected.png"},
		{".tif", TIFF, ".tif_corrected.tif"},
	} {
		if got := DefaultName(filepath.FromSlash(c.path), c.format); got != filepath.FromSlash(c.want) {
			t.Errorf("DefaultName(%q, %s) = %q, want %q", c.path, c.format, got, c.want)
		}
	}
}

// No existing file is replaced without permission; with permission even the source can be.
func TestSaveOverwrites(t *testing.T) {
	dir := t.TempDir()
	f := tiffScan(t, dir, "a.tif", 9, 9)
	before := testpic.ReadFile(t, f.Path)
	patches := dot(f.Picture, 4, 4)
	link, other := filepath.Join(dir, "link.tif"), filepath.Join(dir, "other.tif")
	testpic.Link(t, "a.tif", link)
	if err := os.WriteFile(other, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	for path, says := range map[string]string{f.Path: "original itself", link: "original itself", other: "already exists"} {
		_, err := Save(t.Context(), f, path, patches, SaveOptions{})
		var e *Error
		if !errors.Is(err, ErrExists) || !errors.As(err, &e) || e.Path != path || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", path, err)
		}
	}
	if !bytes.Equal(testpic.ReadFile(t, f.Path), before) || string(testpic.ReadFile(t, other)) != "mine" {
		t.Fatal("a refused save wrote")
	}
	if _, err := Save(t.Context(), f, other, patches, SaveOptions{Overwrite: true}); err != nil {
		t.Error(err)
	}
	want := testpic.ReadFile(t, other)
	saved, err := Save(t.Context(), f, link, patches, SaveOptions{Overwrite: true})
	if err != nil || saved.SourceSHA256 != sumOf(before) || saved.SHA256 != sumOf(want) {
		t.Errorf("onto itself by a link: %+v, %v", saved, err)
	}
	if info, err := os.Lstat(link); err != nil || info.Mode()&fs.ModeSymlink == 0 || !bytes.Equal(testpic.ReadFile(t, f.Path), want) {
		t.Errorf("the link should stay one and its file be replaced: %v, %v", info, err)
	}
	onlyFiles(t, dir, "a.tif", "link.tif", "other.tif")
	if _, err := Save(t.Context(), f, filepath.Join(dir, "b.tif"), patches, SaveOptions{}); !errors.Is(err, ErrChanged) {
		t.Errorf("after its own source was replaced: %v", err)
	}
	if _, err := Save(t.Context(), f, dir, patches, SaveOptions{Overwrite: true}); !errors.Is(err, ErrWrite) {
		t.Errorf("onto a folder: %v", err)
	}
}

// A source that is no longer the file that was read is detected: by size and time, or, if both were preserved, by its
// pixels.
func TestSaveChangedSource(t *testing.T) {
	for name, spoil := range map[string]func(f *File) error{
		"longer":        func(f *File) error { return os.WriteFile(f.Path, append(must(os.ReadFile(f.Path)), 0), 0o600) },
		"touched":       func(f *File) error { return os.Chtimes(f.Path, time.Now(), f.Modified.Add(time.Second)) },
		"gone":          func(f *File) error { return os.Remove(f.Path) },
		"other content": func(f *File) error { return os.WriteFile(f.Path, []byte("II*\x00 nothing"), 0o600) },
		"same size and time": func(f *File) error {
			data := must(os.ReadFile(f.Path))
			for i := range 40 {
				data[len(data)/2+i] ^= 0xff
			}
			return errors.Join(os.WriteFile(f.Path, data, 0o600), os.Chtimes(f.Path, f.Modified, f.Modified))
		},
	} {
		dir := t.TempDir()
		f := tiffScan(t, dir, "a.tif", 20, 20)
		if err := spoil(f); err != nil {
			t.Fatal(err)
		}
		_, err := Save(t.Context(), f, filepath.Join(dir, "b.tif"), dot(f.Picture, 1, 1), SaveOptions{})
		switch {
		case name == "gone":
			if !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%s: %v", name, err)
			}
			onlyFiles(t, dir)
			continue
		case name == "same size and time":
			if !errors.Is(err, ErrWrite) || !strings.Contains(err.Error(), "may have changed") {
				t.Errorf("%s: %v", name, err)
			}
		case !errors.Is(err, ErrChanged) || !strings.HasPrefix(err.Error(), f.Path+": "):
			t.Errorf("%s: %v", name, err)
		}
		onlyFiles(t, dir, "a.tif")
	}
}

// Of a file with parts that cannot be compared it is said that it is damaged, not that somebody changed it.
func TestSaveDamaged(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.tif")
	packed := []byte{1, 10, 20, 1, 30, 40}
	exif := entry{34665, []uint32{1 << 20}} // beyond the end of the file
	page := strip(2, 2, []uint32{8}, 1, len(packed), entry{tagCompression, []uint32{32773}}, exif)
	if err := os.WriteFile(path, tiffBytes(binary.LittleEndian, page, packed), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := Read(t.Context(), path, DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	_, err = Save(t.Context(), f, filepath.Join(dir, "b.tif"), dot(f.Picture, 1, 1), SaveOptions{})
	if err == nil || !strings.Contains(err.Error(), "damaged") || f.state != "" && !errors.Is(err, ErrDamaged) {
		t.Errorf("%v", err)
	}
	onlyFiles(t, dir, "a.tif")
}

// Whichever step of saving fails, old files are unchanged, no other file is left, and one sentence says why.
func TestFailedSaveLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	f := tiffScan(t, dir, "a.tif", 40, 40)
	target := filepath.Join(dir, "b.tif")
	if err := os.WriteFile(target, []byte("before"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		err  error
		says string
	}{
		{syscall.ENOSPC, "the disk is full"},
		{syscall.EROFS, "read-only"},
		{syscall.EACCES, "no permission to write"},
		{syscall.EIO, syscall.EIO.Error()},
	} {
		for _, step := range []string{"create", "write", "patch", "sync", "rename"} {
			_, err := save(t.Context(), failing{step: step, err: c.err}, f, target, dot(f.Picture, 1, 1), SaveOptions{Overwrite: true})
			var e *Error
			if !errors.As(err, &e) || e.Path != target || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%s: %v, want a sentence with %q", step, err, c.says)
			}
			onlyFiles(t, dir, "a.tif", "b.tif")
			if string(testpic.ReadFile(t, target)) != "before" {
				t.Fatalf("%s: the old file was touched", step)
			}
		}
	}
	_, err := save(t.Context(), small{}, f, target, dot(f.Picture, 1, 1), SaveOptions{Overwrite: true})
	if want := target + ": not written: 0.0 MB are needed in the folder " + dir + ", and 0.0 MB are free"; err == nil || err.Error() != want {
		t.Errorf("too little room: %v, want %s", err, want)
	}
	if _, err := Save(t.Context(), f, filepath.Join(dir, "no", "b.tif"), nil, SaveOptions{}); err == nil || !strings.Contains(err.Error(), "does not exist") {
		t.Errorf("missing folder: %v", err)
	}
}

// small is a disk with little free space.
type small struct{ atomicfile.Disk }

func (small) Free(string) int64 { return 1000 }

// A disk that really is full, and a folder that really is read-only, if the test may create them.
func TestSaveOnFullDisk(t *testing.T) {
	dir := t.TempDir()
	mount := exec.Command("mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", dir)
	testpic.Need(t, mount.Run() == nil, "the right to mount (TestFailedSaveLeavesNothing does with a failing disk)")
	defer exec.Command("umount", "-l", dir).Run()
	f := tiffScan(t, t.TempDir(), "a.tif", 100, 100)
	full := filepath.Join(dir, "b.tif")
	if err := os.WriteFile(filepath.Join(dir, "filler"), make([]byte, 20<<10), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Save(t.Context(), f, full, nil, SaveOptions{}); !errors.Is(err, ErrWrite) || !strings.Contains(err.Error(), "0.1 MB are needed") {
		t.Errorf("by statfs: %v", err)
	}
	if _, err := save(t.Context(), boastful{}, f, full, nil, SaveOptions{}); !errors.Is(err, ErrWrite) || !strings.Contains(err.Error(), "the disk is full") {
		t.Errorf("by writing: %v", err)
	}
	onlyFiles(t, dir, "filler")
	testpic.Need(t, exec.Command("mount", "-o", "remount,ro", dir).Run() == nil, "the right to make a mount read-only")
	if _, err := save(t.Context(), boastful{}, f, full, nil, SaveOptions{}); !errors.Is(err, ErrWrite) || !strings.Contains(err.Error(), "read-only") {
		t.Errorf("read-only: %v", err)
	}
}

// boastful is a disk that does not report its free space.
type boastful struct{ atomicfile.Disk }

func (boastful) Free(string) int64 { return -1 }

// After a cancel at any time the old file is unchanged, or the cancel came too late.
func TestCancelledSave(t *testing.T) {
	dir := t.TempDir()
	f := tiffScan(t, dir, "a.tif", 300, 300)
	target := filepath.Join(dir, "b.tif")
	for _, at := range []float64{-1, 0, 0.5} {
		ctx, cancel := context.WithCancel(t.Context())
		if at < 0 {
			cancel()
		}
		_, err := Save(ctx, f, target, dot(f.Picture, 1, 1), SaveOptions{Progress: func(_ message.Message, done float64) {
			if done == at {
				cancel()
			}
		}})
		cancel()
		if err != context.Canceled {
			t.Errorf("cancelled at %g: %v", at, err)
		}
		onlyFiles(t, dir, "a.tif")
	}
}

// Patches that do not fit are rejected before anything is written.
func TestSaveRefusesPatches(t *testing.T) {
	dir := t.TempDir()
	f := tiffScan(t, dir, "a.tif", 8, 8)
	for name, p := range map[string]processing.Patch{
		"kind":    {Runs: []processing.Run{{Y: 0, X0: 0, X1: 1}}, U8: []uint8{1, 2, 3}},
		"few":     {Runs: []processing.Run{{Y: 0, X0: 0, X1: 2}}, U16: []uint16{1, 2, 3}},
		"many":    {Runs: []processing.Run{{Y: 0, X0: 0, X1: 1}}, U16: make([]uint16, 6)},
		"outside": {Runs: []processing.Run{{Y: 0, X0: 7, X1: 9}}, U16: make([]uint16, 6)},
		"below":   {Runs: []processing.Run{{Y: 8, X0: 0, X1: 1}}, U16: make([]uint16, 3)},
		"empty":   {Runs: []processing.Run{{Y: 1, X0: 1, X1: 1}}},
	} {
		if _, err := Save(t.Context(), f, filepath.Join(dir, "b.tif"), []processing.Patch{p}, SaveOptions{}); !errors.Is(err, ErrWrite) {
			t.Errorf("%s: %v", name, err)
		}
	}
	onlyFiles(t, dir, "a.tif")
}

// The standard library, as an independent decoder, reads rewritten PNG files.
func TestRewrittenPNGDecodes(t *testing.T) {
	f := opened(t, testpic.Shared(t, "io-samples/io_reference_16bit.png"))
	target := filepath.Join(t.TempDir(), "b.png")
	if _, err := Save(t.Context(), f, target, dot(f.Picture, 3, 4), SaveOptions{}); err != nil {
		t.Fatal(err)
	}
	a, errA := png.Decode(bytes.NewReader(testpic.ReadFile(t, f.Path)))
	b, errB := png.Decode(bytes.NewReader(testpic.ReadFile(t, target)))
	if err := errors.Join(errA, errB); err != nil {
		t.Fatal(err)
	}
	for y := range f.Picture.Height {
		for x := range f.Picture.Width {
			if (a.At(x, y) != b.At(x, y)) != (x == 3 && y == 4) {
				t.Fatalf("%d, %d: %v became %v", x, y, a.At(x, y), b.At(x, y))
			}
		}
	}
}

// A disk that does not store what was written is detected before the result gets its name.
func TestSaveOnFaultyDisk(t *testing.T) {
	dir := t.TempDir()
	f := tiffScan(t, dir, "a.tif", 40, 30)
	for name, damage := range map[string]func(atomicfile.File) error{
		"a patch that is lost":      nil,
		"a byte outside":            func(w atomicfile.File) error { _, err := w.WriteAt([]byte{0x55}, 9); return err },
		"a byte beyond the pixels":  func(w atomicfile.File) error { _, err := w.WriteAt([]byte{0x55}, f.Size); return err },
		"another byte in the patch": func(w atomicfile.File) error { _, err := w.WriteAt([]byte{0x55}, 300); return err },
	} {
		for _, told := range []bool{true, false} { // by bytes and by pixels
			source := *f
			if !told {
				source.state = ""
			}
			if name == "a byte beyond the pixels" && !told {
				continue // pixels do not tell of bytes that are none
			}
			_, err := save(t.Context(), faulty{damage: damage}, &source, filepath.Join(dir, "b.tif"), dot(f.Picture, 20, 20), SaveOptions{})
			if !errors.Is(err, ErrWrite) && !errors.Is(err, ErrDamaged) {
				t.Errorf("%s, told %t: %v", name, told, err)
			}
			onlyFiles(t, dir, "a.tif")
		}
	}
}

// faulty is a disk that writes patches wrongly or not at all.
type faulty struct {
	atomicfile.Disk
	damage func(atomicfile.File) error
}

func (f faulty) Create(path string) (atomicfile.File, error) {
	file, err := f.Disk.Create(path)
	return faultyFile{file, f.damage}, err
}

type faultyFile struct {
	atomicfile.File
	damage func(atomicfile.File) error
}

func (f faultyFile) WriteAt(p []byte, off int64) (int, error) {
	if f.damage == nil {
		return len(p), nil
	}
	if n, err := f.File.WriteAt(p, off); err != nil {
		return n, err
	}
	return len(p), f.damage(f.File)
}

// Save writes a picture and gives it its name at once.
func Save(ctx context.Context, file *File, path string, patches []processing.Patch, o SaveOptions) (*Saved, error) {
	return save(ctx, atomicfile.Disk{}, file, path, patches, o)
}

func save(
	ctx context.Context, fsys atomicfile.FileSystem, file *File, path string, patches []processing.Patch, o SaveOptions,
) (*Saved, error) {
	out := begin(fsys)
	defer out.Close()
	saved, err := out.AddPicture(ctx, file, path, patches, o)
	if err == nil {
		err = out.Commit(ctx, path)
	}
	if err != nil {
		return nil, err
	}
	return saved, nil
}
