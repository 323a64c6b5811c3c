package farm

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"

	"blik/internal/atomicfile"
	"blik/internal/message"
)

// scratchDir is the folder in which a worker keeps files from the object store while it processes them.
type scratchDir struct {
	parent string

	mu     sync.Mutex
	folder string
	lock   io.Closer
}

// scratchPrefix is the prefix of the names of such folders; scratchLock is a file in each that is locked while its
// worker runs.
const (
	scratchPrefix = "blik-farm-"
	scratchLock   = "lock"
)

// openScratch opens a scratch folder and removes those of killed workers.
func openScratch(parent string) (*scratchDir, error) {
	if parent == "" {
		parent = os.TempDir()
	}
	if info, err := os.Stat(parent); err != nil || !info.IsDir() {
		return nil, message.Errorf("%s: this folder cannot hold the files being processed", parent)
	}
	left, err := filepath.Glob(filepath.Join(parent, scratchPrefix+"*", scratchLock))
	if err != nil {
		return nil, err
	}
	for _, name := range left {
		if lock, err := (atomicfile.Disk{}).Claim(name); err == nil {
			_ = lock.Close()
			_ = os.RemoveAll(filepath.Dir(name))
		}
	}
	return &scratchDir{parent: parent}, nil
}

// place makes a new folder for a job.
func (d *scratchDir) place(job Job) (string, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.folder == "" {
		folder, err := os.MkdirTemp(d.parent, scratchPrefix)
		if err != nil {
			return "", err
		}
		if d.lock, err = atomicfile.Lock(filepath.Join(folder, scratchLock)); err != nil {
			return "", errors.Join(err, os.RemoveAll(folder))
		}
		d.folder = folder
	}
	return os.MkdirTemp(d.folder, job.ID+"-")
}

func (d *scratchDir) close() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.lock != nil {
		_ = d.lock.Close()
		_ = os.RemoveAll(d.folder)
	}
}

// diskFull reports whether an error means that a disk is full.
func diskFull(err error) bool {
	if number, ok := errors.AsType[syscall.Errno](err); ok && runtime.GOOS == "windows" {
		return number == 39 || number == 112 // ERROR_HANDLE_DISK_FULL, ERROR_DISK_FULL
	}
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}

// performUploaded downloads the original of a job from the object store, has it processed, and stores the results
// there.
func (w *Worker) performUploaded(ctx context.Context, n int, job assignment) (Outcome, error) {
	name := path.Base(job.In.Path)
	if err := Portable(name); err != nil || !filepath.IsLocal(name) {
		return Outcome{}, message.Errorf("%s: a file with this name cannot be created here", name)
	}
	folder, err := w.scratch.place(job.Job)
	if err != nil {
		return unplaced(job, w.scratch.parent, err)
	}
	defer os.RemoveAll(folder)
	if free := (atomicfile.Disk{}).Free(folder); free >= 0 && free < 2*job.Size {
		return full(job, w.scratch.parent), nil
	}
	out := filepath.Join(folder, "out")
	if err := os.Mkdir(out, 0o700); err != nil {
		return unplaced(job, folder, err)
	}
	input := filepath.Join(folder, name)
	if err := w.download(ctx, job, input); err != nil {
		return unplaced(job, folder, err)
	}
	outcome, err := w.runOn(ctx, n, job, Task{Input: input, Folder: out})
	// The submitter knows the original by another path.
	outcome.Sentence = strings.ReplaceAll(outcome.Sentence, input, job.In.String())
	if err != nil || outcome.End != Done {
		return outcome, err
	}
	return outcome, w.upload(ctx, job, out, outcome.Outputs)
}

// unplaced distinguishes a full disk from other faults.
func unplaced(job assignment, folder string, err error) (Outcome, error) {
	if diskFull(err) {
		return full(job, folder), nil
	}
	return Outcome{}, err
}

func (w *Worker) download(ctx context.Context, job assignment, file string) error {
	return w.link.withRetries(ctx, w.waits, func() error {
		return w.link.fetch(ctx, job.Job, job.ticket, file)
	})
}

// upload stores the results in a folder and records their SHA-256. Space is granted for all of them or for none:
// otherwise workers that have stored part of their results could wait for each other. If another worker has the job
// now, nothing is stored; the manager compares the SHA-256.
func (w *Worker) upload(ctx context.Context, job assignment, folder string, outputs []Output) error {
	total, sizes := int64(0), make([]int64, len(outputs))
	for i, o := range outputs {
		sum, size, err := sumOf(ctx, filepath.Join(folder, o.Name))
		if err != nil {
			return err
		}
		outputs[i].SHA256, sizes[i] = sum, size
		total += size
	}
	err := w.link.withRetries(ctx, w.waits, func() error {
		a, err := w.link.insist(ctx, WorkRoom, Request{Ticket: job.ticket, Bytes: total}, w.waits)
		if err != nil {
			return err
		}
		if a.Verdict == Settled {
			return errSettled
		}
		for i, o := range outputs {
			r := Request{Ticket: job.ticket, File: &Stored{Result: true, SHA256: o.SHA256, Size: sizes[i]}}
			if err := w.link.send(ctx, WorkPut, r, o.SHA256, sizes[i], filepath.Join(folder, o.Name)); err != nil {
				return err
			}
		}
		return nil
	})
	if errors.Is(err, errSettled) {
		return nil
	}
	return err
}

// sumOf returns the SHA-256 and the size of a file.
func sumOf(ctx context.Context, file string) (string, int64, error) {
	f, err := os.Open(file)
	if err != nil {
		return "", 0, err
	}
	defer f.Close()
	h := sha256.New()
	buffer, size := make([]byte, 1<<20), int64(0)
	for ctx.Err() == nil {
		n, err := f.Read(buffer)
		h.Write(buffer[:n])
		size += int64(n)
		if err == io.EOF {
			return hex.EncodeToString(h.Sum(nil)), size, nil
		}
		if err != nil {
			return "", 0, err
		}
	}
	return "", 0, ctx.Err()
}
