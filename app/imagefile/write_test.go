package imagefile

import (
	"bytes"
	"context"
	"errors"
	"fmt"
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

	"blik/internal/atomicfile"
	"blik/internal/test/testpic"
	"blik/processing"
)

// A picture written as PNG is read unchanged.
func TestWritePNG(t *testing.T) {
	for _, want := range []*processing.Picture{
		{Width: 5, Height: 3, Channels: 1, U8: noise(15)},
		{Width: 2, Height: 3, Channels: 3, U8: noise(18)},
		{Width: 3, Height: 1, Channels: 1, U16: []uint16{1, 0x1234, 65535}},
		{Width: 1, Height: 2, Channels: 3, U16: []uint16{0, 1, 257, 65534, 2, 3}},
	} {
		path := filepath.Join(t.TempDir(), "a.png")
		if err := WritePNG(t.Context(), path, WriteOptions{Overwrite: true}, want); err != nil {
			t.Fatal(err)
		}
		f, err := Read(t.Context(), path, DefaultLimits())
		if err != nil {
			t.Fatal(err)
		}
		if got := f.Picture; got.Width != want.Width || got.Channels != want.Channels || !slices.Equal(got.U8, want.U8) || !slices.Equal(got.U16, want.U16) {
			t.Errorf("got %+v, want %+v", got, want)
		}
	}
}

func TestMaskRoundTrip(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.png")
	want := &processing.Mask{Width: 5, Height: 2, Pix: []uint8{0, 1, 127, 128, 255, 255, 0, 64, 3, 254}}
	if err := WriteMask(t.Context(), path, WriteOptions{Overwrite: true}, want); err != nil {
		t.Fatal(err)
	}
	for _, size := range [][2]int{{5, 2}, {0, 0}} {
		got, err := ReadMask(t.Context(), path, size[0], size[1], DefaultLimits())
		if err != nil || got.Width != 5 || got.Height != 2 || !slices.Equal(got.Pix, want.Pix) {
			t.Errorf("got %+v, %v", got, err)
		}
	}
	_, err := ReadMask(t.Context(), path, 4, 3, DefaultLimits())
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

// The value of a mask is the highest of several colour samples, and the upper eight of 16 bits.
func TestReadMaskOfOtherKinds(t *testing.T) {
	for name, p := range map[string]*processing.Picture{
		"rgb":    {Width: 2, Height: 1, Channels: 3, U8: []uint8{1, 200, 3, 0, 0, 0}},
		"rgb16":  {Width: 2, Height: 1, Channels: 3, U16: []uint16{0, 0, 0xc8ff, 255, 255, 255}},
		"grey16": {Width: 2, Height: 1, Channels: 1, U16: []uint16{0xc800, 0}},
	} {
		path := filepath.Join(t.TempDir(), name+".png")
		if err := WritePNG(t.Context(), path, WriteOptions{Overwrite: true}, p); err != nil {
			t.Fatal(err)
		}
		m, err := ReadMask(t.Context(), path, 2, 1, DefaultLimits())
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
		if err := WritePNG(t.Context(), path, WriteOptions{Overwrite: true}, p); err == nil {
			t.Errorf("%+v was written", p)
		}
	}
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a refused picture left a file: %v", err)
	}
}

// failing is a disk on which one step fails.
type failing struct {
	atomicfile.Disk
	step string
	err  error
}

func (f failing) Create(path string) (atomicfile.File, error) {
	if f.step == "create" {
		return nil, &fs.PathError{Op: "open", Path: path, Err: f.err}
	}
	file, err := f.Disk.Create(path)
	return failingFile{file, f}, err
}

func (f failing) Link(from, to string) error {
	if f.step == "rename" {
		return &os.LinkError{Op: "link", Old: from, New: to, Err: f.err}
	}
	return f.Disk.Link(from, to)
}

func (f failing) Rename(from, to string) error {
	if f.step == "rename" {
		return &os.LinkError{Op: "rename", Old: from, New: to, Err: f.err}
	}
	return f.Disk.Rename(from, to)
}

type failingFile struct {
	atomicfile.File
	f failing
}

func (f failingFile) Write(p []byte) (int, error) {
	if f.f.step == "write" {
		n, _ := f.File.Write(p[:len(p)/2])
		return n, &fs.PathError{Op: "write", Path: "x", Err: f.f.err}
	}
	return f.File.Write(p)
}

func (f failingFile) WriteAt(p []byte, off int64) (int, error) {
	if f.f.step == "patch" {
		return 0, f.f.err
	}
	return f.File.WriteAt(p, off)
}

func (f failingFile) Sync() error {
	if f.f.step == "sync" {
		return f.f.err
	}
	return f.File.Sync()
}

// Link fails where a file without a name gets one.
func (f failingFile) Link(path string) error {
	if f.f.step == "link" {
		return &os.LinkError{Op: "link", Old: "x", New: path, Err: f.f.err}
	}
	return f.File.Link(path)
}

// unnamed reports whether new files in a folder have no name.
func unnamed(t *testing.T, dir string) bool {
	t.Helper()
	file := must(atomicfile.Disk{}.Create(filepath.Join(dir, "x")))
	defer file.Close()
	if file.Temporary() == "" {
		return true
	}
	if err := os.Remove(file.Temporary()); err != nil {
		t.Fatal(err)
	}
	return false
}

// Whichever step fails, the old file is unchanged, no half-written file is left, and one sentence says why.
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
		for _, step := range []string{"create", "write", "sync", "link", "rename"} {
			dir := t.TempDir()
			path := filepath.Join(dir, "a.png")
			if err := os.WriteFile(path, []byte("before"), 0o666); err != nil {
				t.Fatal(err)
			}
			if step == "link" && !unnamed(t, dir) {
				continue
			}
			err := writeTo(t.Context(), failing{step: step, err: c.err}, path, WriteOptions{Overwrite: true}, func(w io.Writer) error {
				_, err := w.Write(make([]byte, 1<<20))
				return err
			})
			var e *Error
			if !errors.As(err, &e) || !strings.HasPrefix(err.Error(), path+": ") || !strings.Contains(err.Error(), c.says) {
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
		err := WriteFile(ctx, path, WriteOptions{Overwrite: true}, func(w io.Writer) error {
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
	err := WriteFile(t.Context(), path, WriteOptions{Overwrite: true}, func(io.Writer) error { return fmt.Errorf("a word") })
	if !errors.Is(err, ErrWrite) {
		t.Errorf("an error of the writer: %v", err)
	}
	onlyOld(t, "error of the writer", dir)
}

func TestWriteThroughLinkKeepsIt(t *testing.T) {
	dir := t.TempDir()
	file, link := filepath.Join(dir, "a.png"), filepath.Join(dir, "b.png")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	testpic.Link(t, file, link)
	master := filepath.Join(t.TempDir(), "master.png")
	if err := os.WriteFile(master, []byte("master"), 0o644); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(dir, "d.png")
	testpic.Link(t, master, out)
	err := WriteMask(t.Context(), out, WriteOptions{Overwrite: true}, processing.NewMask(1, 1))
	if !errors.Is(err, ErrWrite) || !strings.Contains(err.Error(), "in another folder") || string(must(os.ReadFile(master))) != "master" {
		t.Errorf("a link out of the folder: %v", err)
	}
	if err := WriteMask(t.Context(), link, WriteOptions{Overwrite: true}, processing.NewMask(1, 1)); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Lstat(link); err != nil || info.Mode()&fs.ModeSymlink == 0 {
		t.Errorf("the link became %v, %v", info.Mode(), err)
	}
	if info, err := os.Stat(file); err != nil || info.Size() == 0 {
		t.Error("the file that the link names was not written")
	}
	nowhere := filepath.Join(dir, "c.png")
	testpic.Link(t, filepath.Join(dir, "gone"), nowhere)
	if err := WriteMask(t.Context(), nowhere, WriteOptions{Overwrite: true}, processing.NewMask(1, 1)); !errors.Is(err, ErrExists) {
		t.Errorf("a link to nowhere: %v", err)
	}
}

func TestWriteWhereNothingCanBe(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "no", "a.png")
	m := processing.NewMask(1, 1)
	if err := WriteMask(t.Context(), missing, WriteOptions{Overwrite: true}, m); err == nil || !strings.Contains(err.Error(), "does not exist") {
		t.Errorf("missing folder: %v", err)
	}
	folder := t.TempDir()
	if err := WriteMask(t.Context(), folder, WriteOptions{Overwrite: true}, m); !errors.Is(err, ErrWrite) {
		t.Errorf("the name of a folder: %v", err)
	}
	if os.Getuid() <= 0 {
		t.Log("as root, and in Windows, no folder is read-only; a failing disk stands in for it in TestFailedWriteLeavesNothing")
		return
	}
	closed := t.TempDir()
	if err := os.Chmod(closed, 0o555); err != nil {
		t.Fatal(err)
	}
	if err := WriteMask(t.Context(), filepath.Join(closed, "a.png"), WriteOptions{Overwrite: true}, m); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("read-only folder: %v", err)
	}
}
