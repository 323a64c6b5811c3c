package atomicfile

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// An open temporary file can be renamed and is not taken for a leftover; one that is closed is.
func TestClaimOnWindows(t *testing.T) {
	dir, err := os.MkdirTemp("", "claim")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, ".blik-1.tmp")
	f, err := Disk{}.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Write([]byte("new")); err != nil {
		t.Fatal(err)
	}
	if c, err := (Disk{}).Claim(path); err == nil {
		c.Close()
		t.Error("a file that is being written was claimed")
	}
	final := filepath.Join(dir, "a.tif")
	if err := (Disk{}).Rename(path, final); err != nil {
		t.Fatalf("rename of an open file: %v", err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	c, err := Disk{}.Claim(final)
	if err != nil {
		t.Fatalf("claim of a file that nobody has open: %v", err)
	}
	if second, err := (Disk{}).Claim(final); err == nil {
		second.Close()
		t.Error("a file was claimed twice")
	}
	if data, err := (Disk{}).ReadFile(final); err != nil || string(data) != "new" {
		t.Errorf("%q, %v", data, err)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	if n := (Disk{}).Free(dir); n <= 0 {
		t.Errorf("%d bytes are free", n)
	}
	if err := (Disk{}).Remove(final); err != nil {
		t.Error(err)
	}
}

// A file that another program has open without permitting its replacement is retried for a while, and then refused.
func TestRenameWaits(t *testing.T) {
	dir, err := os.MkdirTemp("", "wait")
	if err != nil {
		t.Fatal(err)
	}
	from, to := filepath.Join(dir, "from"), filepath.Join(dir, "to")
	for _, path := range []string{from, to} {
		if err := os.WriteFile(path, []byte(path), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	scanner, err := os.Open(to)
	if err != nil {
		t.Fatal(err)
	}
	begin := time.Now()
	if err := (Disk{}).Rename(from, to); err == nil {
		t.Error("a file that is open was replaced")
	} else if waited := time.Since(begin); waited < patience {
		t.Errorf("it gave up after %v: %v", waited, err)
	}
	tries := 0
	err = patiently(func() error {
		if tries++; tries == 3 {
			scanner.Close()
			return os.Rename(from, to)
		}
		return &os.LinkError{Op: "rename", Old: from, New: to, Err: syscall.ERROR_ACCESS_DENIED}
	})
	if err != nil || tries != 3 {
		t.Errorf("%d tries: %v", tries, err)
	}
	tries = 0
	fatal := errors.New("another")
	if err := patiently(func() error { tries++; return fatal }); err != fatal || tries != 1 {
		t.Errorf("%d tries of what cannot succeed: %v", tries, err)
	}
}
