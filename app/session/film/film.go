package film

import (
	"context"
	"errors"
	"image"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"blik/app/batch"
	"blik/app/document"
	"blik/app/imagefile"
	"blik/app/project"
	"blik/app/session"
	"blik/app/session/store"
	"blik/app/thumbnail"
	"blik/app/work"
	"blik/internal/message"
	"blik/processing"
)

// FrameState is the state of the work on a picture of the filmstrip.
type FrameState uint8

// FrameFound: glare is marked. FrameCorrected: all of it is corrected. FrameSaved: the corrected picture is saved.
// FrameClear: the picture was searched, and nothing is marked.
const (
	FrameToDo FrameState = iota
	FrameFound
	FrameCorrected
	FrameSaved
	FrameClear
)

// Standing is how far the work on a picture is.
type Standing struct {
	State FrameState
	// Findings is the number of findings in its mask; Left of them are not corrected.
	Findings, Left int
}

// Frame is a picture of the filmstrip. It is immutable.
type Frame struct {
	Path string
	Standing
	// Small is its thumbnail; nil until it is known.
	Small image.Image
	// Err is the error of the last batch for this picture.
	Err error
}

// Options are the parts of a filmstrip.
type Options struct {
	Store  *store.Store
	Files  store.Files
	Engine work.Engine
	// Thumbnails stores the thumbnails of pictures; it may be nil.
	Thumbnails *thumbnail.Cache
	// Version is the version of the program, for reports.
	Version string
}

// Film is the filmstrip: a list of pictures to be processed one after the other, with the state of each. The list is
// replaced when anything in it changes, never modified.
type Film struct {
	s      *session.Session
	o      Options
	frames []Frame
	// changes counts the changes, told those of which the last Change told.
	changes, told uint64
}

func New(s *session.Session, o Options) *Film {
	m := &Film{s: s, o: o}
	s.AddModule(session.Module{Changed: m.changed})
	return m
}

func (m *Film) changed(c *session.Change) {
	m.follow()
	c.Film = m.changes != m.told
	m.told = m.changes
}

// maxFrames is the largest number of pictures in the filmstrip.
const maxFrames = 500

// Frames returns the pictures. The slice must not be changed.
func (m *Film) Frames() []Frame { return m.frames }

func (m *Film) Paths() []string {
	paths := make([]string, len(m.frames))
	for i, f := range m.frames {
		paths[i] = f.Path
	}
	return paths
}

// set replaces the filmstrip.
func (m *Film) set(frames []Frame) {
	m.frames = frames
	m.changes++
}

// setFrame changes a frame of the filmstrip, if path is in it.
func (m *Film) setFrame(path string, change func(f *Frame)) {
	i := slices.IndexFunc(m.frames, func(f Frame) bool { return f.Path == path })
	if i < 0 {
		return
	}
	was := m.frames[i]
	f := was
	change(&f)
	// Errors cannot always be compared.
	if f.Standing != was.Standing || f.Small != was.Small || (f.Err == nil) != (was.Err == nil) {
		frames := slices.Clone(m.frames)
		frames[i] = f
		m.set(frames)
	}
}

// Add adds pictures and the pictures in folders to the filmstrip, except files that Blik itself writes beside a
// picture. If the filmstrip was empty, the open picture is added too, and all are sorted by path. It returns the number
// of pictures added. Their thumbnails and states are found later, on another goroutine.
func (m *Film) Add(paths []string) (added int) {
	var all []string
	if m.s.Document() != nil && len(m.frames) == 0 {
		all = append(all, m.s.Document().Path())
	}
	for _, path := range paths {
		if abs, err := filepath.Abs(path); err == nil {
			path = abs
		}
		if info, err := os.Stat(path); err == nil && info.IsDir() {
			all = append(all, picturesIn(path)...)
		} else {
			all = append(all, path)
		}
	}
	frames := slices.Clone(m.frames)
	var fresh []string
	for _, path := range all {
		known := slices.ContainsFunc(frames, func(f Frame) bool { return f.Path == path })
		if !known && len(frames) < maxFrames {
			frames, fresh = append(frames, Frame{Path: path}), append(fresh, path)
		}
	}
	if len(fresh) == 0 {
		return 0
	}
	if len(frames) == len(fresh) {
		slices.SortFunc(frames, func(a, b Frame) int { return strings.Compare(a.Path, b.Path) })
	}
	m.set(frames)
	m.s.Publish(session.Other, image.Rectangle{})
	go m.describeFrames(fresh)
	return len(fresh)
}

// Clear empties the filmstrip; the open picture stays open.
func (m *Film) Clear() {
	m.set(nil)
	m.s.Publish(session.Other, image.Rectangle{})
}

// FirstPicture returns the first of the pictures that Add would add; ok is false if there are none.
func FirstPicture(paths []string) (path string, ok bool) {
	for _, path := range paths {
		if info, err := os.Stat(path); err != nil || !info.IsDir() {
			return path, true
		}
		if all := picturesIn(path); len(all) > 0 {
			return all[0], true
		}
	}
	return "", false
}

// picturesIn returns the paths of the pictures in a folder, without results, masks and projects of Blik.
func picturesIn(dir string) (paths []string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	extensions := imagefile.Extensions()
	for _, e := range entries {
		name := e.Name()
		extension := strings.ToLower(strings.TrimPrefix(filepath.Ext(name), "."))
		stem := strings.TrimSuffix(name, filepath.Ext(name))
		own := strings.HasSuffix(stem, "_corrected") || strings.HasSuffix(stem, "_mask") ||
			strings.HasSuffix(stem, ".blik") || strings.HasSuffix(stem, "_original") || strings.HasPrefix(name, ".")
		if !e.IsDir() && !own && slices.Contains(extensions, extension) {
			paths = append(paths, filepath.Join(dir, name))
		}
	}
	return paths
}

// describeFrames finds the thumbnails and states of pictures, one by one. It runs on its own goroutine.
func (m *Film) describeFrames(paths []string) {
	for _, path := range paths {
		small := m.thumbnailOf(path)
		p, err := project.Read(context.Background(), path, session.Limits())
		m.s.Dispatch(func() {
			m.setFrame(path, func(f *Frame) {
				if small != nil {
					f.Small = small
				}
				if err == nil && (m.s.Document() == nil || m.s.Document().Path() != path) {
					n := len(processing.Spots(p.Work.Mask))
					f.Standing = standing(n, len(p.Work.Spots), p.Work.Found != nil, p.Saved)
				}
			})
			m.s.Publish(session.Other, image.Rectangle{})
		})
	}
}

// maxThumbnailSource is the largest file that is read only to make a thumbnail. Larger files get one when they are
// opened.
const maxThumbnailSource = 256 << 20

// thumbnailOf returns the stored thumbnail of a file, or makes one; nil if that fails.
func (m *Film) thumbnailOf(path string) image.Image {
	if m.o.Thumbnails != nil {
		if small, err := m.o.Thumbnails.Load(path); err == nil {
			return small
		}
	}
	if info, err := os.Stat(path); err != nil || info.Size() > maxThumbnailSource {
		return nil
	}
	ctx := context.Background()
	file, err := m.o.Files.Read(ctx, path)
	if err != nil {
		return nil
	}
	small, err := store.MakeThumbnail(ctx, file)
	if err != nil {
		return nil
	}
	if m.o.Thumbnails != nil {
		// If it cannot be stored, it will be made again.
		_ = m.o.Thumbnails.Save(ctx, path, small)
	}
	return small
}

// standing returns how far work is with so many findings in the mask, of which so many are corrected. searched is set
// after a detection, saved if the corrected picture is saved.
func standing(findings, corrected int, searched, saved bool) Standing {
	s := Standing{FrameCorrected, findings, findings - corrected}
	switch {
	case findings == 0 && searched:
		s.State = FrameClear
	case findings == 0:
		s.State = FrameToDo
	case s.Left > 0:
		s.State = FrameFound
	case saved:
		s.State = FrameSaved
	}
	return s
}

// follow updates the frame of the open picture.
func (m *Film) follow() {
	if m.s.Document() == nil || len(m.frames) == 0 {
		return
	}
	m.setFrame(m.s.Document().Path(), func(f *Frame) {
		if m.o.Store.Small() != nil {
			f.Small = m.o.Store.Small()
		}
		f.Standing = standingOf(m.s.Document())
		if f.State == FrameSaved {
			f.Err = nil
		}
	})
}

// standingOf returns how far the work in a document is.
func standingOf(d *document.Document) Standing {
	findings, corrected := store.CountFindings(d)
	return standing(findings, corrected, d.Result() != nil, !d.PictureDirty())
}

// Beside returns the path of the picture direction places after another one in the filmstrip, before it if negative. ok
// is false if there is none.
func (m *Film) Beside(path string, direction int) (beside string, ok bool) {
	i := slices.IndexFunc(m.frames, func(f Frame) bool { return f.Path == path })
	if i < 0 || i+direction < 0 || i+direction >= len(m.frames) {
		return "", false
	}
	return m.frames[i+direction].Path, true
}

// Batch is the result of RunBatch, in numbers of pictures.
type Batch struct {
	// Done were processed, Skipped needed nothing, Failed had errors.
	Done, Skipped, Failed int
	// Changed is set if the user has changed the work on the open picture meanwhile, so that it was not opened again.
	Changed bool
}

// RunBatch processes all pictures of the filmstrip, one after the other, with the current parameters. It detects glare
// where none is marked. With correct, it also corrects and saves what is not saved, with a report in the given language
// if the settings ask for one. The work on each picture is stored in its project. Existing files are not overwritten.
// An error of one picture is stored in its frame, and the others are still processed. Of the open picture, only what
// its project holds is used, so its work must be saved there before; it is opened again at the end, unless its work has
// changed meanwhile.
func (m *Film) RunBatch(correct bool, lang string, done func(Batch, error)) {
	m.s.Settle()
	paths, params, folder := m.Paths(), m.s.Settings().Params, m.s.Settings().OutputFolder
	var open session.Revision
	if m.s.Document() != nil {
		open = session.RevisionOf(m.s.Document())
	}
	if !m.s.Settings().WriteReport {
		lang = ""
	}
	do := func(ctx context.Context, progress processing.Progress) (b Batch, err error) {
		var t *sheet
		return b, batch.Each(ctx, paths, func(ctx context.Context, i int) error {
			stage := message.Of("%d of %d: %s", i+1, len(paths), filepath.Base(paths[i]))
			t = &sheet{o: &m.o, path: paths[i], folder: folder, params: params, until: work.Finding, lang: lang}
			if correct {
				t.until = work.Saving
			}
			t.progress = func(_ message.Message, share float64) {
				progress(stage, (float64(i)+share)/float64(len(paths)))
			}
			t.progress(stage, 0)
			return t.run(ctx)
		}, func(i int, err error) error {
			switch {
			case err != nil:
				b.Failed++
			case t.worked:
				b.Done++
			default:
				b.Skipped++
			}
			m.worked(*t, err)
			return nil
		})
	}
	session.Begin(m.s, session.Other, do, nil, func(b Batch, err error) {
		doc := m.s.Document()
		if b.Changed = doc != nil && session.RevisionOf(doc) != open; doc == nil || b.Changed {
			done(b, err)
			return
		}
		m.o.Store.Open(doc.Path(), func(reopened error) { done(b, errors.Join(err, reopened)) })
	})
}

// worked shows what a batch has done with a picture.
func (m *Film) worked(t sheet, err error) {
	m.s.Dispatch(func() {
		m.setFrame(t.path, func(f *Frame) {
			f.Err = err
			if err == nil {
				f.Standing = t.standing
			}
			if t.small != nil {
				f.Small = t.small
			}
		})
		m.s.Publish(session.Other, image.Rectangle{})
	})
}
