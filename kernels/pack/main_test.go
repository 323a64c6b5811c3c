package main

import (
	"os"
	"path/filepath"
	"testing"

	"blik/kernels/archive"
)

// write creates files with their paths relative to a folder as contents, unless given.
func write(t *testing.T, folder string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(folder, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// checkFolder compares all files below a folder with the expected ones.
func checkFolder(t *testing.T, folder string, want map[string]string) {
	t.Helper()
	have, err := filepath.Glob(filepath.Join(folder, "*", "*"))
	if err != nil {
		t.Fatal(err)
	}
	if len(have) != len(want) {
		t.Errorf("files %v, want %d", have, len(want))
	}
	for name, text := range want {
		got, err := os.ReadFile(filepath.Join(folder, filepath.FromSlash(name)))
		if err != nil || string(got) != text {
			t.Errorf("%s: %q, %v; want %q", name, got, err, text)
		}
	}
}

func TestStoreAndExtract(t *testing.T) {
	kernels := t.TempDir()
	write(t, kernels, map[string]string{"point.cu": "", "network.cu": "", "gone.cu": ""})
	first := t.TempDir()
	made := map[string]string{
		"compute_50/point.ptx": "p50", "compute_50/network.ptx": "n50", "compute_50/gone.ptx": "g50", "compute_80/network.ptx": "n80",
		"sm_75/point.cubin": "\x7fELF p75", "sm_75/point.of": "hash of p50\n",
		"sm_90/network.cubin": "\x7fELF n90", "sm_90/network.of": "hash of n80\n",
	}
	write(t, first, made)
	if err := store(kernels, first); err != nil {
		t.Fatal(err)
	}
	out := t.TempDir()
	if err := extract(kernels, out); err != nil {
		t.Fatal(err)
	}
	checkFolder(t, out, made)

	// The network no longer has PTX of its own for 8.0, and a source is gone. The rest stays.
	if err := os.Remove(filepath.Join(kernels, "gone.cu")); err != nil {
		t.Fatal(err)
	}
	second := t.TempDir()
	write(t, second, map[string]string{
		"compute_50/network.ptx": "new", "sm_90/network.cubin": "\x7fELF new", "sm_90/network.of": "hash of new\n",
	})
	if err := store(kernels, second); err != nil {
		t.Fatal(err)
	}
	out = t.TempDir()
	if err := extract(kernels, out); err != nil {
		t.Fatal(err)
	}
	checkFolder(t, out, map[string]string{
		"compute_50/point.ptx": "p50", "compute_50/network.ptx": "new", "sm_75/point.cubin": "\x7fELF p75",
		"sm_75/point.of": "hash of p50\n", "sm_90/network.cubin": "\x7fELF new", "sm_90/network.of": "hash of new\n",
	})
	if _, err := os.Stat(filepath.Join(kernels, "code", "compute_80"+archive.Extension)); !os.IsNotExist(err) {
		t.Errorf("the empty archive: %v", err)
	}
}

// Machine code must say what it was made of.
func TestStoreNeedsOrigin(t *testing.T) {
	kernels, folder := t.TempDir(), t.TempDir()
	write(t, kernels, map[string]string{"point.cu": ""})
	write(t, folder, map[string]string{"sm_75/point.cubin": "\x7fELF"})
	if err := store(kernels, folder); err == nil {
		t.Error("machine code without its origin was stored")
	}
}
