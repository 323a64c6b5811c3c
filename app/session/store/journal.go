package store

import (
	"bytes"
	"compress/zlib"
	"context"
	"crypto/sha256"
	"encoding/gob"
	"encoding/hex"
	"errors"
	"fmt"
	"image"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"blik/app/document"
	"blik/app/imagefile"
	"blik/app/session"
	"blik/internal/atomicfile"
	"blik/internal/message"
	"blik/processing"
	"blik/processing/detect"
)

// Extensions of the files of a journal, and the start of its first line.
const (
	journalEnding = ".journal"
	lockEnding    = ".lock"
	journalMark   = "blik journal 4"
)

// journalPause is the shortest time between two writes of the journal. journalRetry is the time after which a failed
// write is repeated, unless there is newer work to write.
const (
	journalPause = 300 * time.Millisecond
	journalRetry = 5 * time.Second
)

// Unsaved is the work on a picture that was not saved when a program ended.
type Unsaved struct {
	// Path is the picture, State the state of its file when it was read (imagefile.State), Date the time of the
	// journal.
	Path, State string
	Date        time.Time
	// Width and Height are those of the picture and of Masks.
	Width, Height int
	Masks         document.PackedMasks
	// Region is the search region as text (Region.String), empty for the whole picture.
	Region string
	// Findings are those of the last detection, FoundWith its parameters and FoundOn its device. Renewed and Drawn are
	// Replaced and Painted of document.Work, under the names in stored journals.
	Findings       []detect.Finding
	FoundWith      processing.Params
	FoundOn        string
	Renewed, Drawn bool
	// Kept holds one pixel of each kept finding.
	Kept []image.Point
	// Numbers holds the numbers of findings; see document.Work.
	Numbers []document.Numbered
	// Spots and Patches are the corrections; Made[i] is the index, in Params and Devices, of what correction i was made
	// with.
	Spots   []processing.Spot
	Patches []processing.Patch
	Made    []int
	Params  []processing.Params
	Devices []string

	// journal is the path of the journal.
	journal string
}

// journal writes unsaved work to a file, on its own goroutine, and removes the file when everything is saved.
type journal struct {
	fsys atomicfile.FileSystem
	path string
	// failed is called, on any goroutine, for the first of several failed writes in a row. After retry a failed write
	// is repeated.
	failed func(error)
	retry  time.Duration
	// shots holds a function that returns the newest work that is not written yet.
	shots chan func() *Unsaved
	// done is closed when the goroutine has ended.
	done chan struct{}
	// writing guards lock and the file.
	writing sync.Mutex
	lock    io.Closer
}

// newJournal starts a journal in a folder, which is created when there is something to write.
func newJournal(fsys atomicfile.FileSystem, dir string, failed func(error)) *journal {
	name := fmt.Sprintf("%s-%d", time.Now().Format("20060102-150405.000000000"), os.Getpid())
	j := &journal{
		fsys: fsys, path: filepath.Join(dir, name+journalEnding), failed: failed, retry: journalRetry,
		shots: make(chan func() *Unsaved, 1), done: make(chan struct{}),
	}
	go j.run()
	return j
}

// note sets the work to write next, which make returns: nil if everything is saved. It never blocks.
func (j *journal) note(make func() *Unsaved) {
	select {
	case <-j.shots: // older
	default:
	}
	j.shots <- make
}

// run writes the work that note announces, with a pause after each write. A failed write is repeated until there is
// newer work; the file written before stays.
func (j *journal) run() {
	defer close(j.done)
	reported := false
	for shot, open := <-j.shots; open; {
		err := j.write(shot())
		if err != nil && !reported {
			j.failed(err)
		}
		reported = err != nil
		time.Sleep(journalPause)
		var again <-chan time.Time
		if err != nil {
			again = time.After(j.retry)
		}
		select {
		case shot, open = <-j.shots:
		case <-again:
		}
	}
}

// write writes u, or removes the file if u is nil.
func (j *journal) write(u *Unsaved) error {
	j.writing.Lock()
	defer j.writing.Unlock()
	if u == nil {
		if err := j.fsys.Remove(j.path); !errors.Is(err, os.ErrNotExist) {
			return err
		}
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(j.path), 0o700); err != nil {
		return err
	}
	if j.lock == nil {
		lock, err := atomicfile.Lock(lockOf(j.path))
		if err != nil {
			return err
		}
		j.lock = lock
	}
	data, err := u.encode()
	if err != nil {
		return err
	}
	return atomicfile.Replace(j.fsys, j.path, data, 0o600)
}

// lockOf returns the path of the lock of a journal.
func lockOf(journal string) string { return strings.TrimSuffix(journal, journalEnding) + lockEnding }

// close ends the journal after the newest work has been written. Unless keep is set, it removes the file.
func (j *journal) close(ctx context.Context, keep bool) error {
	if !keep {
		j.note(func() *Unsaved { return nil })
	}
	close(j.shots)
	select {
	case <-j.done:
	case <-ctx.Done():
		return ctx.Err()
	}
	if j.lock == nil {
		return nil
	}
	return errors.Join(j.lock.Close(), os.Remove(lockOf(j.path)))
}

// encode returns the content of a journal: a line with the SHA-256 of the rest, and the rest, compressed.
func (u *Unsaved) encode() ([]byte, error) {
	var body bytes.Buffer
	// Masks are compressed already, and it must be fast: a journal is written after every decision.
	z, err := zlib.NewWriterLevel(&body, zlib.BestSpeed)
	if err == nil {
		err = gob.NewEncoder(z).Encode(u)
	}
	if err == nil {
		err = z.Close()
	}
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(body.Bytes())
	return append(fmt.Appendf(nil, "%s %s\n", journalMark, hex.EncodeToString(sum[:])), body.Bytes()...), nil
}

// ReadJournal returns the work in a journal.
func ReadJournal(path string) (*Unsaved, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	u, err := decodeUnsaved(data)
	if err != nil {
		return nil, err
	}
	u.journal = path
	return u, nil
}

// decodeUnsaved is the inverse of encode. It returns an error if data are damaged or inconsistent.
func decodeUnsaved(data []byte) (*Unsaved, error) {
	head, body, _ := bytes.Cut(data, []byte("\n"))
	sum := sha256.Sum256(body)
	mark, ok := strings.CutSuffix(string(head), " "+hex.EncodeToString(sum[:]))
	if !ok || mark != journalMark {
		return nil, message.Errorf("the journal is damaged")
	}
	z, err := zlib.NewReader(bytes.NewReader(body))
	if err != nil {
		return nil, message.Errorf("the journal is damaged (%w)", err)
	}
	u := &Unsaved{}
	if err := gob.NewDecoder(z).Decode(u); err != nil {
		return nil, message.Errorf("the journal is damaged (%w)", err)
	}
	fits := func(p document.Packed) bool { return p == nil || p.Fits(u.Width, u.Height) }
	whole := u.Masks.Mask != nil && fits(u.Masks.Mask) && fits(u.Masks.Found) && fits(u.Masks.Marked) &&
		fits(u.Masks.Erased) && len(u.Spots) == len(u.Patches) && len(u.Made) == len(u.Patches) &&
		len(u.Params) == len(u.Devices)
	for _, made := range u.Made {
		whole = whole && made >= 0 && made < len(u.Params)
	}
	if !whole {
		return nil, message.Errorf("the journal is inconsistent")
	}
	return u, nil
}

// unsaved returns a function, for any goroutine, that returns the unsaved work, or nil if everything is saved.
func (d *Store) unsaved() func() *Unsaved {
	if mask, picture := d.Unsaved(); !mask && !picture && !d.UnsavedDecisions() {
		return func() *Unsaved { return nil }
	}
	shot, state := d.s.Document().Snapshot(), d.disk.state
	return func() *Unsaved { return record(shot, state) }
}

// UnsavedDecisions reports whether there are decisions about findings that no project holds.
func (d *Store) UnsavedDecisions() bool {
	doc := d.s.Document()
	return doc != nil && !d.safe() && (doc.Decisions() != nil || len(doc.Ignored()) > 0)
}

// record describes the work in a document.
func record(shot document.Snapshot, state string) *Unsaved {
	w, masks := shot.Packed()
	u := &Unsaved{
		Path: shot.Path, State: state, Date: time.Now(), Width: shot.Picture.Width, Height: shot.Picture.Height,
		Masks: masks, Renewed: w.Replaced, Drawn: w.Painted, Kept: w.Kept, Numbers: w.Numbers, Spots: w.Spots,
		Patches: w.Patches,
	}
	if w.Region != nil {
		u.Region = w.Region.String()
	}
	if w.Found != nil {
		u.Findings, u.FoundWith, u.FoundOn = w.Found.Findings, w.Found.Params, w.Found.Device
	}
	place := map[*document.Origin]int{}
	for _, o := range w.Origins {
		if _, ok := place[o]; !ok {
			place[o] = len(u.Params)
			u.Params, u.Devices = append(u.Params, o.Params), append(u.Devices, o.Device)
		}
		u.Made = append(u.Made, place[o])
	}
	return u
}

// work is the inverse of record.
func (u *Unsaved) work() (w document.Work, err error) {
	w = document.Work{
		Replaced: u.Renewed, Painted: u.Drawn, Kept: u.Kept, Numbers: u.Numbers, Spots: u.Spots, Patches: u.Patches,
	}
	if u.Region != "" {
		if w.Region, err = processing.ParseRegion(u.Region); err != nil {
			return w, err
		}
	}
	if u.Masks.Found != nil {
		w.Found = &detect.Found{Findings: u.Findings, Params: u.FoundWith, Device: u.FoundOn}
	}
	w.Unpack(u.Masks, u.Width, u.Height)
	origins := make([]*document.Origin, len(u.Params))
	for i := range origins {
		origins[i] = &document.Origin{Params: u.Params[i], Device: u.Devices[i]}
	}
	for _, made := range u.Made {
		w.Origins = append(w.Origins, origins[made])
	}
	return w, nil
}

// journalFailed notifies the listeners that the journal cannot be written.
func (d *Store) journalFailed(err error) {
	fault := message.Errorf("save your work; it cannot be recovered after a crash: %w",
		imagefile.WriteError(d.journal.path, err))
	d.s.Dispatch(func() { d.s.Notify(session.Change{Fault: fault}) })
}

// Interrupted returns the unsaved work of programs that were killed or crashed, oldest first. It skips damaged journals
// and those of programs that are still running. Any goroutine may call it: for a large picture it takes seconds.
func (d *Store) Interrupted() []*Unsaved {
	var all []*Unsaved
	left, _ := d.journals()
	for _, path := range left {
		if u, err := ReadJournal(path); err == nil {
			all = append(all, u)
		}
	}
	return all
}

// OthersRun reports whether other programs that have unsaved work are running. A program that was killed counts as
// running until the system has freed its memory, a second or so if it held a large picture. Any goroutine may call it.
func (d *Store) OthersRun() bool {
	_, running := d.journals()
	return running
}

// journals returns the journals of other programs that have ended, oldest first, and whether there are others whose
// programs run.
func (d *Store) journals() (left []string, running bool) {
	if d.o.Journal == "" {
		return nil, false
	}
	// Remove what an interrupted write has left.
	imagefile.Recover(d.o.Journal)
	paths, err := filepath.Glob(filepath.Join(d.o.Journal, "*"+journalEnding))
	if err != nil {
		return nil, false
	}
	slices.Sort(paths)
	for _, path := range paths {
		if d.journal != nil && path == d.journal.path {
			continue
		}
		lock := lockOf(path)
		if claim, err := (atomicfile.Disk{}).Claim(lock); err == nil {
			claim.Close()
		} else if _, e := os.Stat(lock); e == nil && !errors.Is(err, errors.ErrUnsupported) {
			running = true
			continue
		}
		left = append(left, path)
	}
	return left, running
}

// Discard removes the journal of interrupted work.
func (d *Store) Discard(u *Unsaved) error {
	err := os.Remove(u.journal)
	_ = os.Remove(lockOf(u.journal))
	return err
}

// Resume opens the picture of interrupted work and restores the work. The old journal is removed only once the journal
// of this session holds the work. The error says if the picture has changed since.
func (d *Store) Resume(u *Unsaved, done func(error)) {
	if u.State != "" && imagefile.State(u.Path) != u.State {
		done(message.Errorf("%s: the picture has been changed or deleted since then, so the saved work no longer "+
			"fits it", u.Path))
		return
	}
	// Without its project: the journal is newer.
	d.open(u.Path, false, func(err error) {
		if err == nil {
			err = d.restore(u)
		}
		if err == nil {
			err = d.Discard(u)
		}
		done(err)
	})
}

// restore restores work in the open document and writes it to the journal of this session.
func (d *Store) restore(u *Unsaved) error {
	w, err := u.work()
	if err != nil {
		return err
	}
	pixels, err := d.s.Document().Restore(w)
	if err == nil && w.Found != nil {
		d.s.Settings().Params = session.AskedWith(d.s.Settings().Params, w.Found)
	}
	d.s.Publish(session.Restored, pixels)
	if err != nil {
		return err
	}
	if d.journal == nil {
		return nil
	}
	return d.journal.write(d.unsaved()())
}

// Forget makes Close remove the journal, because the user does not want to keep unsaved work.
func (d *Store) Forget() { d.forget = true }

// closeJournal closes the journal. Unsaved work stays in it unless Forget was called.
func (d *Store) closeJournal(ctx context.Context) error {
	if d.journal == nil {
		return nil
	}
	mask, picture := d.Unsaved()
	return d.journal.close(ctx, (mask || picture || d.UnsavedDecisions()) && !d.forget)
}
