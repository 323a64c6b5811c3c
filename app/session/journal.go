package session

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
	"blik/internal/atomicfile"
	"blik/internal/message"
	"blik/processing"
)

// The names of the files of a journal, and what the first line of its content begins with.
const (
	journalEnding = ".journal"
	lockEnding    = ".lock"
	journalMark   = "blik journal 2"
)

// journalPause is the least time between two writings of the journal, journalRetry that after a failed one where there
// is nothing newer to write.
const (
	journalPause = 300 * time.Millisecond
	journalRetry = 5 * time.Second
)

// Unsaved is the work on a picture that a program left unsaved when it ended.
type Unsaved struct {
	// Path is the picture, State what its file was (imagefile.State), and Date when the work was written down.
	Path, State string
	Date        time.Time
	// Width and Height are those of the picture; Mask has as many values, row by row.
	Width, Height int
	Mask          []uint8
	// Region is the search region as text, empty for the whole picture.
	Region string
	// Found is the mask of the last detection, Findings what it found, FoundWith its parameters and FoundOn its device;
	// Found is nil before the first. Renewed and Drawn say what was done to the mask since; see document.Work.
	Found          []uint8
	Findings       []processing.Finding
	FoundWith      processing.Params
	FoundOn        string
	Renewed, Drawn bool
	// Kept holds a pixel of each finding that was kept.
	Kept []image.Point
	// Numbers are those of findings; see document.Work.
	Numbers []document.Numbered
	// Spots and Patches are the corrections; Made says for each which of Params and Devices it was made with.
	Spots   []processing.Spot
	Patches []processing.Patch
	Made    []int
	Params  []processing.Params
	Devices []string

	// journal is the file that it was read from.
	journal string
}

// journal writes down what is not saved, on a goroutine of its own, and removes it when everything is.
type journal struct {
	fsys atomicfile.FileSystem
	path string
	// failed is called, on any goroutine, when the journal cannot be written, once until it could be again. retry is
	// the time after which that is tried again.
	failed func(error)
	retry  time.Duration
	// shots holds what makes the newest state that is not written yet.
	shots chan func() *Unsaved
	// done is closed when the goroutine has ended.
	done chan struct{}
	// writing guards lock and the file.
	writing sync.Mutex
	lock    io.Closer
}

// newJournal begins a journal in a folder, which is made when there is something to write.
func newJournal(fsys atomicfile.FileSystem, dir string, failed func(error)) *journal {
	name := fmt.Sprintf("%s-%d", time.Now().Format("20060102-150405.000000000"), os.Getpid())
	j := &journal{
		fsys: fsys, path: filepath.Join(dir, name+journalEnding), failed: failed, retry: journalRetry,
		shots: make(chan func() *Unsaved, 1), done: make(chan struct{}),
	}
	go j.run()
	return j
}

// note replaces the state to be written, which make returns, nil if everything is saved. It never waits.
func (j *journal) note(make func() *Unsaved) {
	select {
	case <-j.shots: // older
	default:
	}
	j.shots <- make
}

// run writes states as they come, with a pause between them. One that cannot be written is tried again until there is a
// newer one; what was written before it stays.
func (j *journal) run() {
	defer close(j.done)
	told := false
	for shot, open := <-j.shots; open; {
		err := j.write(shot())
		if err != nil && !told {
			j.failed(err)
		}
		told = err != nil
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

// write writes a state, or removes the journal where there is none.
func (j *journal) write(u *Unsaved) error {
	j.writing.Lock()
	defer j.writing.Unlock()
	if u == nil {
		return j.remove()
	}
	if err := os.MkdirAll(filepath.Dir(j.path), 0o700); err != nil {
		return err
	}
	if j.lock == nil {
		lock, err := atomicfile.Lock(strings.TrimSuffix(j.path, journalEnding) + lockEnding)
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

func (j *journal) remove() error {
	err := j.fsys.Remove(j.path)
	if errors.Is(err, os.ErrNotExist) {
		err = nil
	}
	return err
}

// close ends the journal when the newest state is written. Without keep its file is removed.
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
	return errors.Join(j.lock.Close(), os.Remove(strings.TrimSuffix(j.path, journalEnding)+lockEnding))
}

// encode returns the content of a journal: a line with the sum of the rest, and the rest, packed.
func (u *Unsaved) encode() ([]byte, error) {
	var body bytes.Buffer
	// Masks are mostly zeros, so that the fastest packing does.
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

// decodeUnsaved is the inverse of encode. It refuses what is damaged or contradicts itself.
func decodeUnsaved(data []byte) (*Unsaved, error) {
	head, body, _ := bytes.Cut(data, []byte("\n"))
	sum := sha256.Sum256(body)
	if string(head) != journalMark+" "+hex.EncodeToString(sum[:]) {
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
	whole := u.Width > 0 && u.Height > 0 && len(u.Mask)/u.Width == u.Height && len(u.Mask)%u.Width == 0 &&
		len(u.Spots) == len(u.Patches) && len(u.Made) == len(u.Patches) && len(u.Params) == len(u.Devices) &&
		(len(u.Found) == 0 || len(u.Found) == len(u.Mask))
	for _, made := range u.Made {
		whole = whole && made >= 0 && made < len(u.Params)
	}
	if !whole {
		return nil, message.Errorf("the journal contradicts itself")
	}
	return u, nil
}

// unsaved returns what makes a record of what is not saved, on any goroutine; that is nil where everything is saved.
func (s *Session) unsaved() func() *Unsaved {
	if mask, picture := s.Unsaved(); !mask && !picture && !s.Decisive() {
		return func() *Unsaved { return nil }
	}
	shot, state := s.doc.Snapshot(), s.originalState
	return func() *Unsaved { return record(shot, state) }
}

// Decisive reports whether anything was decided about findings that no project holds.
func (s *Session) Decisive() bool {
	return s.doc != nil && !s.safe() && (s.doc.Decisions() != nil || len(s.doc.Ignored()) > 0)
}

// record describes the work in a document.
func record(shot document.Snapshot, state string) *Unsaved {
	w := shot.Work()
	u := &Unsaved{
		Path: shot.Path, State: state, Date: time.Now(), Width: w.Mask.Width, Height: w.Mask.Height, Mask: w.Mask.Pix,
		Renewed: w.Renewed, Drawn: w.Drawn, Kept: w.Kept, Numbers: w.Numbers, Spots: w.Spots,
		Patches: w.Patches,
	}
	if w.Region != nil {
		u.Region = w.Region.String()
	}
	if w.Found != nil {
		u.Found, u.Findings, u.FoundWith, u.FoundOn = w.Found.Mask.Pix, w.Found.Findings, w.Found.Params, w.Found.Device
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

// work is what record described.
func (u *Unsaved) work() (w document.Work, err error) {
	w = document.Work{
		Mask:    &processing.Mask{Width: u.Width, Height: u.Height, Pix: u.Mask},
		Renewed: u.Renewed, Drawn: u.Drawn, Kept: u.Kept, Numbers: u.Numbers, Spots: u.Spots,
		Patches: u.Patches,
	}
	if u.Region != "" {
		if w.Region, err = processing.ParseRegion(u.Region); err != nil {
			return w, err
		}
	}
	if len(u.Found) > 0 {
		w.Found = &processing.Result{
			Mask:     &processing.Mask{Width: u.Width, Height: u.Height, Pix: u.Found},
			Findings: u.Findings, Params: u.FoundWith, Device: u.FoundOn,
		}
	}
	origins := make([]*document.Origin, len(u.Params))
	for i := range origins {
		origins[i] = &document.Origin{Params: u.Params[i], Device: u.Devices[i]}
	}
	for _, made := range u.Made {
		w.Origins = append(w.Origins, origins[made])
	}
	return w, nil
}

// notKept tells that what is not saved cannot be written down.
func (s *Session) notKept(err error) {
	fault := message.Errorf("save your work, it could not be restored after a crash: %w",
		imagefile.WriteError(s.journal.path, err))
	s.dispatch(func() { s.notify(Change{Fault: fault}) })
}

// Interrupted returns the work that programs left unsaved when they were killed or crashed, oldest first. Those that
// still run are left alone, and so is what is damaged.
func (s *Session) Interrupted() []*Unsaved {
	if s.journalDir == "" {
		return nil
	}
	// Half-written journals are of no use to anybody.
	imagefile.Recover(s.journalDir)
	paths, err := filepath.Glob(filepath.Join(s.journalDir, "*"+journalEnding))
	if err != nil {
		return nil
	}
	slices.Sort(paths)
	var all []*Unsaved
	for _, path := range paths {
		if s.journal != nil && path == s.journal.path {
			continue
		}
		lock := strings.TrimSuffix(path, journalEnding) + lockEnding
		if claim, err := (atomicfile.Disk{}).Claim(lock); err == nil {
			claim.Close()
		} else if _, e := os.Stat(lock); e == nil && !errors.Is(err, errors.ErrUnsupported) {
			continue // its program runs
		}
		data, err := os.ReadFile(path)
		if err != nil {
			continue
		}
		if u, err := decodeUnsaved(data); err == nil {
			u.journal = path
			all = append(all, u)
		}
	}
	return all
}

// Discard removes the journal of interrupted work.
func (s *Session) Discard(u *Unsaved) error {
	err := os.Remove(u.journal)
	_ = os.Remove(strings.TrimSuffix(u.journal, journalEnding) + lockEnding)
	return err
}

// Resume opens the picture of interrupted work and puts mask and corrections back. The work stays in its old journal
// until it is in that of this session. A picture that has changed since is refused.
func (s *Session) Resume(u *Unsaved, done func(error)) {
	if u.State != "" && imagefile.State(u.Path) != u.State {
		done(message.Errorf("%s: the picture has been changed or deleted since then, so the saved work no longer "+
			"fits it", u.Path))
		return
	}
	// The journal is newer than a project can be.
	s.open(u.Path, false, func(err error) {
		if err == nil {
			err = s.restore(u)
		}
		if err == nil {
			err = s.Discard(u)
		}
		done(err)
	})
}

// restore makes the work that of the open document.
func (s *Session) restore(u *Unsaved) error {
	w, err := u.work()
	if err != nil {
		return err
	}
	pixels, err := s.doc.Restore(w)
	s.publish(Other, pixels)
	if err != nil {
		return err
	}
	if s.journal == nil {
		return nil
	}
	return s.journal.write(s.unsaved()())
}

// keepJournal writes down what differs from the disk, if that has changed.
func (s *Session) keepJournal(was, is state) {
	same := is.doc == was.doc && is.mask == was.mask && is.corrections == was.corrections && is.saved == was.saved &&
		is.region == was.region && is.decisions == was.decisions && is.result == was.result
	if s.journal != nil && !same {
		s.journal.note(s.unsaved())
	}
}

// Forget makes Close remove the journal: the user does not want to keep what is not saved.
func (s *Session) Forget() { s.forget = true }

// closeJournal ends the journal. What is not saved stays in it, unless the user has given it up.
func (s *Session) closeJournal(ctx context.Context) error {
	if s.journal == nil {
		return nil
	}
	mask, picture := s.Unsaved()
	return s.journal.close(ctx, (mask || picture || s.Decisive()) && !s.forget)
}
