package imagefile

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/adler32"
	"image"
	"image/png"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"blik/processing"

	"pgregory.net/rapid"
)

// The parallel encoder's output, read by the standard library, is the picture, whatever the bands.
func TestEncodePNG(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := &processing.Picture{
			Width: rapid.IntRange(1, 40).Draw(t, "w"), Height: rapid.IntRange(1, 40).Draw(t, "h"),
			Channels: rapid.SampledFrom([]int{1, 3}).Draw(t, "channels"),
		}
		n := p.Width * p.Height * p.Channels
		smooth := rapid.Bool().Draw(t, "smooth")
		if rapid.Bool().Draw(t, "16 bits") {
			p.U16 = make([]uint16, n)
			for i, b := range noise(n) {
				p.U16[i] = uint16(b)<<8 | uint16(i&255)
			}
		} else {
			p.U8 = noise(n)
			if smooth {
				for i := range p.U8 {
					p.U8[i] = uint8(i / p.Channels / 3)
				}
			}
		}
		var b bytes.Buffer
		if err := encodePNG(context.Background(), &b, p, rapid.IntRange(1, 2000).Draw(t, "band")); err != nil {
			t.Fatal(err)
		}
		f := &File{Size: int64(b.Len())}
		if err := f.decode(context.Background(), bytes.NewReader(b.Bytes()), DefaultLimits(), nil); err != nil {
			t.Fatal(err)
		}
		got := f.Picture
		if got.Width != p.Width || got.Height != p.Height || got.Channels != p.Channels ||
			!slices.Equal(got.U8, p.U8) || !slices.Equal(got.U16, p.U16) {
			t.Fatalf("%d × %d × %d, %d bits: changed", p.Width, p.Height, p.Channels, p.Depth())
		}
	})
}

func TestAdlerJoin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := rapid.SliceOf(rapid.Byte()).Draw(t, "a")
		b := slices.Repeat(rapid.SliceOf(rapid.Byte()).Draw(t, "b"), 300)
		if got, want := adlerJoin(adler32.Checksum(a), adler32.Checksum(b), len(b)), adler32.Checksum(slices.Concat(a, b)); got != want {
			t.Fatalf("got %08x, want %08x", got, want)
		}
	})
}

func TestMaskRoundTrip(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.png")
	want := &processing.Mask{Width: 5, Height: 2, Pix: []uint8{0, 1, 127, 128, 255, 255, 0, 64, 3, 254}}
	if err := WriteMask(t.Context(), path, want); err != nil {
		t.Fatal(err)
	}
	for _, size := range [][2]int{{5, 2}, {0, 0}} {
		got, err := ReadMask(t.Context(), path, size[0], size[1])
		if err != nil || got.Width != 5 || got.Height != 2 || !slices.Equal(got.Pix, want.Pix) {
			t.Errorf("got %+v, %v", got, err)
		}
	}
	_, err := ReadMask(t.Context(), path, 4, 3)
	if !errors.Is(err, ErrSize) || err.Error() != path+": the mask has 5 × 2 pixels, the picture 4 × 3" {
		t.Errorf("another size: %v", err)
	}
	img, err := png.Decode(bytes.NewReader(must(os.ReadFile(path))))
	if _, grey := img.(*image.Gray); err != nil || !grey {
		t.Errorf("the mask is written as %T, %v; want 8-bit grey", img, err)
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// Of colours the highest counts, of 16 bits the upper eight.
func TestReadMaskOfOtherKinds(t *testing.T) {
	for name, p := range map[string]*processing.Picture{
		"rgb":    {Width: 2, Height: 1, Channels: 3, U8: []uint8{1, 200, 3, 0, 0, 0}},
		"rgb16":  {Width: 2, Height: 1, Channels: 3, U16: []uint16{0, 0, 0xc8ff, 255, 255, 255}},
		"grey16": {Width: 2, Height: 1, Channels: 1, U16: []uint16{0xc800, 0}},
	} {
		path := filepath.Join(t.TempDir(), name+".png")
		if err := WritePNG(t.Context(), path, p); err != nil {
			t.Fatal(err)
		}
		m, err := ReadMask(t.Context(), path, 2, 1)
		if err != nil || !slices.Equal(m.Pix, []uint8{200, 0}) {
			t.Errorf("%s: %+v, %v", name, m, err)
		}
	}
}

func TestWritePNGRefuses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.png")
	for _, p := range []*processing.Picture{
		{Width: 1, Height: 1, Channels: 1, F32: []float32{1}},
		{Width: 2, Height: 1, Channels: 1, U8: []uint8{1}},
	} {
		if err := WritePNG(t.Context(), path, p); err == nil {
			t.Errorf("%+v was written", p)
		}
	}
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a refused picture left a file: %v", err)
	}
}

// failing is a disk on which one step goes wrong.
type failing struct {
	disk
	step string
	err  error
}

func (f failing) Create(path string) (writeFile, error) {
	if f.step == "create" {
		return nil, &fs.PathError{Op: "open", Path: path, Err: f.err}
	}
	file, err := f.disk.Create(path)
	return failingFile{file, f}, err
}

func (f failing) Rename(from, to string) error {
	if f.step == "rename" {
		return &os.LinkError{Op: "rename", Old: from, New: to, Err: f.err}
	}
	return f.disk.Rename(from, to)
}

type failingFile struct {
	writeFile
	f failing
}

func (f failingFile) Write(p []byte) (int, error) {
	if f.f.step == "write" {
		n, _ := f.writeFile.Write(p[:len(p)/2])
		return n, &fs.PathError{Op: "write", Path: "x", Err: f.f.err}
	}
	return f.writeFile.Write(p)
}

func (f failingFile) Sync() error {
	if f.f.step == "sync" {
		return f.f.err
	}
	return f.writeFile.Sync()
}

func (f failingFile) Close() error {
	err := f.writeFile.Close()
	if f.f.step == "close" {
		return f.f.err
	}
	return err
}

// Whatever step fails, the old file is as it was, nothing half written stays, and one sentence says why.
func TestFailedWriteLeavesNothing(t *testing.T) {
	for _, c := range []struct {
		err  error
		says string
	}{
		{syscall.ENOSPC, "the disk is full"},
		{syscall.EFBIG, "no file of this size"},
		{syscall.EROFS, "read-only"},
		{syscall.EACCES, "no permission to write"},
		{syscall.EIO, syscall.EIO.Error()},
	} {
		for _, step := range []string{"create", "write", "sync", "close", "rename"} {
			dir := t.TempDir()
			path := filepath.Join(dir, "a.png")
			if err := os.WriteFile(path, []byte("before"), 0o666); err != nil {
				t.Fatal(err)
			}
			err := writeTo(t.Context(), failing{step: step, err: c.err}, path, func(w io.Writer) error {
				_, err := w.Write(make([]byte, 1<<20))
				return err
			})
			var e *Error
			if !errors.As(err, &e) || !strings.HasPrefix(err.Error(), path+": ") || !strings.Contains(err.Error(), c.says) || e.Fault.RU == "" {
				t.Errorf("%s: %v, want a sentence with %q", step, err, c.says)
			}
			onlyOld(t, step, dir)
		}
	}
}

func onlyOld(t *testing.T, what, dir string) {
	t.Helper()
	entries := must(os.ReadDir(dir))
	if len(entries) != 1 || entries[0].Name() != "a.png" || string(must(os.ReadFile(filepath.Join(dir, "a.png")))) != "before" {
		t.Errorf("%s: the folder holds %v", what, entries)
	}
}

func TestCancelledWriteLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.png")
	if err := os.WriteFile(path, []byte("before"), 0o666); err != nil {
		t.Fatal(err)
	}
	for name, at := range map[string]int{"before": 0, "within": 1, "at the end": 2} {
		ctx, cancel := context.WithCancel(t.Context())
		if at == 0 {
			cancel()
		}
		err := WriteFile(ctx, path, func(w io.Writer) error {
			if at == 1 {
				cancel()
			}
			_, err := w.Write(make([]byte, 1<<20))
			cancel()
			return err
		})
		cancel()
		if err != context.Canceled {
			t.Errorf("%s: %v", name, err)
		}
		onlyOld(t, name, dir)
	}
	err := WriteFile(t.Context(), path, func(io.Writer) error { return fmt.Errorf("a word") })
	if !errors.Is(err, ErrWrite) {
		t.Errorf("an error of the writer: %v", err)
	}
	onlyOld(t, "error of the writer", dir)
}

func TestWriteWhereNothingCanBe(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "no", "a.png")
	m := processing.NewMask(1, 1)
	if err := WriteMask(t.Context(), missing, m); err == nil || !strings.Contains(err.Error(), "does not exist") {
		t.Errorf("missing folder: %v", err)
	}
	folder := t.TempDir()
	if err := WriteMask(t.Context(), folder, m); !errors.Is(err, ErrWrite) {
		t.Errorf("the name of a folder: %v", err)
	}
	if os.Getuid() == 0 {
		t.Log("as root no folder is read-only; a failing disk stands in for it in TestFailedWriteLeavesNothing")
		return
	}
	closed := t.TempDir()
	if err := os.Chmod(closed, 0o555); err != nil {
		t.Fatal(err)
	}
	if err := WriteMask(t.Context(), filepath.Join(closed, "a.png"), m); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("read-only folder: %v", err)
	}
}

func BenchmarkWritePNG(b *testing.B) {
	p := &processing.Picture{Width: 4000, Height: 2000, Channels: 3, U8: noise(4000 * 2000 * 3)}
	for i := range p.U8 {
		p.U8[i] = uint8(i/3/4000) + p.U8[i]>>5
	}
	b.SetBytes(int64(len(p.U8)))
	for b.Loop() {
		if err := encodePNG(b.Context(), io.Discard, p, 1<<20); err != nil {
			b.Fatal(err)
		}
	}
}
