// Package powercut simulates a disk that loses power, for tests: an in-memory file system that distinguishes flushed
// from unflushed data, like the crash tests of SQLite.
//
// Run repeats the work on such a disk, once for each call of the file system, and cuts the power before a different
// call each time. Any part of the unflushed file writes and renames may have reached the disk, in any order. Each
// resulting state of the disk is passed to a check.
package powercut

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"blik/internal/atomicfile"
)

// ErrCut is returned by every call after the power cut, ErrFailed by the call that Fail makes fail.
var (
	ErrCut    = errors.New("the power is gone")
	ErrFailed = errors.New("input/output error")
)

// Disk is an in-memory file system, safe for concurrent use. Its names use slashes on every system.
type Disk struct {
	// Named gives new files their names on creation, as on systems without unnamed files.
	Named bool
	// NoLinks makes all links fail, as on some file systems of memory cards.
	NoLinks bool

	// mu is held during each call.
	mu     sync.Mutex
	names  map[string]*inode
	synced map[string]*inode
	// changes are the changes of names since the directory was last flushed.
	changes []change
	files   []*inode
	// calls counts the calls; the power is cut before call number cut, and call number fail fails.
	calls, cut, fail int
	clock            int64
}

// inode is the content of a file.
type inode struct {
	data []byte
	// durable is the flushed content, pending what was written since.
	durable  []byte
	pending  []write
	modified int64
	locked   bool
}

type write struct {
	at   int64
	data []byte
}

// change adds or removes a name; a rename does both at once.
type change struct {
	gone, name string
	file       *inode
}

// New returns a disk with the given files, all flushed.
func New(files map[string]string) *Disk {
	d := &Disk{names: map[string]*inode{}, synced: map[string]*inode{}, cut: -1, fail: -1}
	for name, content := range files {
		d.clock++
		i := &inode{data: []byte(content), durable: []byte(content), modified: d.clock}
		d.names[name], d.synced[name] = i, i
		d.files = append(d.files, i)
	}
	return d
}

// Content returns the files with their contents.
func (d *Disk) Content() map[string]string {
	all := map[string]string{}
	for name, i := range d.names {
		all[name] = string(i.data)
	}
	return all
}

// call counts a call and returns its error. The caller holds mu, as for all unexported methods.
func (d *Disk) call() error {
	d.calls++
	switch {
	case d.cut >= 0 && d.calls > d.cut:
		return ErrCut
	case d.calls == d.fail:
		return ErrFailed
	}
	return nil
}

// file is an open file.
type file struct {
	d         *Disk
	i         *inode
	at        int64
	temporary string
}

var _ atomicfile.FileSystem = (*Disk)(nil)

// Create implements atomicfile.FileSystem.
func (d *Disk) Create(path string) (atomicfile.File, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	path = filepath.ToSlash(path)
	if err := d.call(); err != nil {
		return nil, err
	}
	d.clock++
	f := &file{d: d, i: &inode{modified: d.clock, locked: true}}
	d.files = append(d.files, f.i)
	if d.Named {
		f.temporary = path
		d.change(change{name: path, file: f.i})
	}
	return f, nil
}

// change applies a change of names, in memory at once and on disk with the next flush of the directory.
func (d *Disk) change(c change) {
	d.changes = append(d.changes, c)
	apply(d.names, c)
}

func apply(names map[string]*inode, c change) {
	delete(names, c.gone)
	if c.file != nil {
		names[c.name] = c.file
	}
}

// info describes a file.
type info struct {
	name string
	i    *inode
}

func (i info) Name() string       { return i.name }
func (i info) Size() int64        { return int64(len(i.i.data)) }
func (i info) Mode() fs.FileMode  { return 0o644 }
func (i info) ModTime() time.Time { return time.Unix(i.i.modified, 0) }
func (i info) IsDir() bool        { return false }
func (i info) Sys() any           { return nil }

// Stat implements atomicfile.FileSystem.
func (d *Disk) Stat(path string) (fs.FileInfo, error) { return d.Lstat(path) }

// Lstat implements atomicfile.FileSystem.
func (d *Disk) Lstat(path string) (fs.FileInfo, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	i, err := d.find(path)
	if err != nil {
		return nil, err
	}
	return info{filepath.Base(path), i}, nil
}

// find returns the file of a name.
func (d *Disk) find(path string) (*inode, error) {
	if err := d.call(); err != nil {
		return nil, err
	}
	i, ok := d.names[filepath.ToSlash(path)]
	if !ok {
		return nil, &fs.PathError{Op: "stat", Path: path, Err: fs.ErrNotExist}
	}
	return i, nil
}

// ReadFile implements atomicfile.FileSystem.
func (d *Disk) ReadFile(path string) ([]byte, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	i, err := d.find(path)
	if err != nil {
		return nil, err
	}
	return bytes.Clone(i.data), nil
}

// Rename implements atomicfile.FileSystem.
func (d *Disk) Rename(from, to string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	from, to = filepath.ToSlash(from), filepath.ToSlash(to)
	if err := d.call(); err != nil {
		return err
	}
	i, ok := d.names[from]
	if !ok {
		return &fs.PathError{Op: "rename", Path: from, Err: fs.ErrNotExist}
	}
	d.change(change{gone: from, name: to, file: i})
	return nil
}

// Link implements atomicfile.FileSystem.
func (d *Disk) Link(from, to string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	from, to = filepath.ToSlash(from), filepath.ToSlash(to)
	if err := d.call(); err != nil {
		return err
	}
	return d.link(d.names[from], to)
}

func (d *Disk) link(i *inode, to string) error {
	switch {
	case i == nil:
		return &fs.PathError{Op: "link", Path: to, Err: fs.ErrNotExist}
	case d.names[to] != nil:
		return &fs.PathError{Op: "link", Path: to, Err: fs.ErrExist}
	case d.NoLinks:
		return &fs.PathError{Op: "link", Path: to, Err: errors.ErrUnsupported}
	}
	d.change(change{name: to, file: i})
	return nil
}

// Remove implements atomicfile.FileSystem.
func (d *Disk) Remove(path string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	path = filepath.ToSlash(path)
	if err := d.call(); err != nil {
		return err
	}
	if d.names[path] == nil {
		return &fs.PathError{Op: "remove", Path: path, Err: fs.ErrNotExist}
	}
	d.change(change{gone: path})
	return nil
}

// List implements atomicfile.FileSystem.
func (d *Disk) List(dir, pattern string) ([]string, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.call(); err != nil {
		return nil, err
	}
	var found []string
	for _, path := range slices.Sorted(maps.Keys(d.names)) {
		within := filepath.ToSlash(filepath.Dir(path)) == filepath.ToSlash(dir)
		if ok, _ := filepath.Match(pattern, filepath.Base(path)); ok && within {
			found = append(found, filepath.Base(path))
		}
	}
	return found, nil
}

// Claim implements atomicfile.FileSystem.
func (d *Disk) Claim(path string) (io.Closer, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	i, err := d.find(path)
	if err != nil {
		return nil, err
	}
	if i.locked {
		return nil, errors.New("locked")
	}
	return io.NopCloser(nil), nil
}

// SyncDir implements atomicfile.FileSystem. All names belong to one directory.
func (d *Disk) SyncDir(string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.call(); err != nil {
		return err
	}
	d.synced, d.changes = maps.Clone(d.names), nil
	return nil
}

// Free implements atomicfile.FileSystem.
func (d *Disk) Free(string) int64 { return -1 }

func (f *file) Temporary() string { return f.temporary }

func (f *file) Link(path string) error {
	f.d.mu.Lock()
	defer f.d.mu.Unlock()
	path = filepath.ToSlash(path)
	if err := f.d.call(); err != nil {
		return err
	}
	if f.temporary == "" {
		// Systems with unnamed files can always link them.
		if f.d.names[path] != nil {
			return &fs.PathError{Op: "link", Path: path, Err: fs.ErrExist}
		}
		f.d.change(change{name: path, file: f.i})
		return nil
	}
	return f.d.link(f.i, path)
}

func (f *file) Write(p []byte) (int, error) {
	n, err := f.WriteAt(p, f.at)
	f.at += int64(n)
	return n, err
}

func (f *file) WriteAt(p []byte, at int64) (int, error) {
	f.d.mu.Lock()
	defer f.d.mu.Unlock()
	if err := f.d.call(); err != nil {
		return 0, err
	}
	w := write{at, bytes.Clone(p)}
	f.i.pending = append(f.i.pending, w)
	f.i.data = w.over(f.i.data)
	return len(p), nil
}

// over returns data with a write applied; a gap is filled with zeros.
func (w write) over(data []byte) []byte {
	if grow := int(w.at) + len(w.data) - len(data); grow > 0 {
		data = append(data, make([]byte, grow)...)
	}
	copy(data[w.at:], w.data)
	return data
}

func (f *file) ReadAt(p []byte, at int64) (int, error) {
	f.d.mu.Lock()
	defer f.d.mu.Unlock()
	if err := f.d.call(); err != nil {
		return 0, err
	}
	return bytes.NewReader(f.i.data).ReadAt(p, at)
}

func (f *file) Stat() (fs.FileInfo, error) {
	f.d.mu.Lock()
	defer f.d.mu.Unlock()
	if err := f.d.call(); err != nil {
		return nil, err
	}
	return info{"", f.i}, nil
}

func (f *file) Chmod(fs.FileMode) error {
	f.d.mu.Lock()
	defer f.d.mu.Unlock()
	return f.d.call()
}

func (f *file) Sync() error {
	f.d.mu.Lock()
	defer f.d.mu.Unlock()
	if err := f.d.call(); err != nil {
		return err
	}
	f.i.durable, f.i.pending = bytes.Clone(f.i.data), nil
	return nil
}

func (f *file) Close() error {
	f.d.mu.Lock()
	defer f.d.mu.Unlock()
	f.i.locked = false
	return f.d.call()
}

// Crash returns at most the given number of states in which the disk may be after a power cut now: with none, all, and
// parts of the unflushed data.
func (d *Disk) Crash(most int, random *rand.Rand) []*Disk {
	pending := len(d.changes)
	for _, i := range d.files {
		pending += len(i.pending)
	}
	var states []*Disk
	if pending < 30 && 1<<pending <= most {
		for kept := range 1 << pending {
			states = append(states, d.state(func(n int) bool { return kept>>n&1 == 1 }, false, random))
		}
		return states
	}
	states = append(states, d.state(func(int) bool { return false }, false, random),
		d.state(func(int) bool { return true }, false, random))
	for len(states) < most {
		states = append(states, d.state(func(int) bool { return random.IntN(2) == 1 }, true, random))
	}
	return states
}

// state returns the disk with the pending writes and changes that keep selects, in their original or any other order.
func (d *Disk) state(keep func(n int) bool, mixed bool, random *rand.Rand) *Disk {
	after := &Disk{Named: d.Named, NoLinks: d.NoLinks, cut: -1, fail: -1, clock: d.clock,
		names: map[string]*inode{}, synced: map[string]*inode{}}
	n := 0
	same := map[*inode]*inode{}
	for _, i := range d.files {
		data := bytes.Clone(i.durable)
		for _, w := range i.pending {
			if keep(n) {
				data = w.over(data)
			}
			n++
		}
		same[i] = &inode{data: data, durable: data, modified: i.modified}
		after.files = append(after.files, same[i])
	}
	names := maps.Clone(d.synced)
	var kept []change
	for _, c := range d.changes {
		if keep(n) {
			kept = append(kept, c)
		}
		n++
	}
	if mixed {
		random.Shuffle(len(kept), func(a, b int) { kept[a], kept[b] = kept[b], kept[a] })
	}
	for _, c := range kept {
		apply(names, c)
	}
	for name, i := range names {
		after.names[name], after.synced[name] = same[i], same[i]
	}
	return after
}

// Report counts what Run and Fail tested.
type Report struct {
	// Calls is the number of file system calls that the work makes, States the number of states checked.
	Calls, States int
}

// Run cuts the power before each call that work makes and passes every possible state of the disk to check. most bounds
// the number of states of one cut. It returns the first error of check, with the number of the call.
func Run(disk func() *Disk, work func(*Disk) error, most int, check func(*Disk) error) (Report, error) {
	random := rand.New(rand.NewPCG(1, 2))
	var r Report
	for cut := 0; ; cut++ {
		d := disk()
		d.cut = cut
		err := work(d)
		if d.calls <= cut {
			if err != nil {
				return r, fmt.Errorf("the work fails by itself: %w", err)
			}
			r.Calls = d.calls
		}
		for _, state := range d.Crash(most, random) {
			r.States++
			if err := check(state); err != nil {
				return r, fmt.Errorf("the power goes before call %d, state %d: %w; the disk holds %q", cut+1, r.States,
					err, slices.Sorted(maps.Keys(state.names)))
			}
		}
		if d.calls <= cut {
			return r, nil
		}
	}
}

// Fail makes each call of work fail in turn, and passes the disk and the error of work to check.
func Fail(disk func() *Disk, work func(*Disk) error, check func(d *Disk, err error) error) (Report, error) {
	var r Report
	for fail := 1; ; fail++ {
		d := disk()
		d.fail = fail
		err := work(d)
		r.States++
		d.fail = -1
		if e := check(d, err); e != nil {
			return r, fmt.Errorf("call %d fails: %w; the disk holds %q", fail, e, slices.Sorted(maps.Keys(d.names)))
		}
		if d.calls < fail {
			r.Calls = d.calls
			return r, nil
		}
	}
}
