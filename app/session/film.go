package session

import (
	"context"
	"errors"
	"image"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"blik/app/consent"
	"blik/app/document"
	"blik/app/imagefile"
	"blik/app/project"
	"blik/app/report"
	"blik/app/thumbnail"
	"blik/internal/message"
	"blik/processing"
	"blik/processing/detect"
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

// Frame is a picture of the filmstrip. It is immutable.
type Frame struct {
	Path  string
	State FrameState
	// Findings is the number of findings in its mask.
	Findings int
	// Small is its thumbnail; nil until it is known.
	Small image.Image
	// Err is the error of the last batch for this picture.
	Err error
}

// film is the filmstrip. The list is replaced when anything in it changes, never modified.
type film struct {
	frames []Frame
	// changes counts the changes.
	changes uint64
}

// maxFrames is the largest number of pictures in the filmstrip.
const maxFrames = 500

// Film returns the filmstrip. The slice must not be changed.
func (s *Session) Film() []Frame { return s.film.frames }

// setFilm replaces the filmstrip.
func (s *Session) setFilm(frames []Frame) {
	s.film.frames = frames
	s.film.changes++
}

// setFrame changes a frame of the filmstrip, if path is in it.
func (s *Session) setFrame(path string, change func(f *Frame)) {
	i := slices.IndexFunc(s.film.frames, func(f Frame) bool { return f.Path == path })
	if i < 0 {
		return
	}
	was := s.film.frames[i]
	f := was
	change(&f)
	// Errors cannot always be compared.
	if f.State != was.State || f.Findings != was.Findings || f.Small != was.Small ||
		(f.Err == nil) != (was.Err == nil) {
		frames := slices.Clone(s.film.frames)
		frames[i] = f
		s.setFilm(frames)
	}
}

// AddFrames adds pictures and the pictures in folders to the filmstrip, except files that Blik itself writes beside a
// picture. If the filmstrip was empty, the open picture is added too, and all are sorted by path. It returns the number
// of pictures added. Their thumbnails and states are found later, on another goroutine.
func (s *Session) AddFrames(paths []string) (added int) {
	var all []string
	if s.doc != nil && len(s.film.frames) == 0 {
		all = append(all, s.doc.Path())
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
	frames := slices.Clone(s.film.frames)
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
	s.setFilm(frames)
	s.publish(Other, image.Rectangle{})
	go s.describeFrames(fresh)
	return len(fresh)
}

// CloseFilm empties the filmstrip; the open picture stays open.
func (s *Session) CloseFilm() {
	s.setFilm(nil)
	s.publish(Other, image.Rectangle{})
}

// FirstPicture returns the first of the pictures that AddFrames would add; ok is false if there are none.
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
func (s *Session) describeFrames(paths []string) {
	for _, path := range paths {
		small := s.thumbnailOf(path)
		p, err := project.Read(context.Background(), path, Limits())
		s.dispatch(func() {
			s.setFrame(path, func(f *Frame) {
				if small != nil {
					f.Small = small
				}
				if err == nil && (s.doc == nil || s.doc.Path() != path) {
					f.State, f.Findings = stateOf(p.Work, p.Saved)
				}
			})
			s.publish(Other, image.Rectangle{})
		})
	}
}

// maxThumbnailSource is the largest file that is read only to make a thumbnail. Larger files get one when they are
// opened.
const maxThumbnailSource = 256 << 20

// thumbnailOf returns the stored thumbnail of a file, or makes one; nil if that fails.
func (s *Session) thumbnailOf(path string) image.Image {
	if s.thumbs != nil {
		if m, err := s.thumbs.Load(path); err == nil {
			return m
		}
	}
	if info, err := os.Stat(path); err != nil || info.Size() > maxThumbnailSource {
		return nil
	}
	ctx := context.Background()
	file, err := s.files.Read(ctx, path)
	if err != nil {
		return nil
	}
	screen := thumbnail.Screen(file.Picture, file.Profile)
	m, err := thumbnail.Make(ctx, file.Picture, screen, file.Orientation, thumbnailSize)
	if err != nil {
		return nil
	}
	if s.thumbs != nil {
		// If it cannot be stored, it will be made again.
		_ = s.thumbs.Save(ctx, path, m)
	}
	return m
}

// frameState returns the state of work with so many findings in the mask, of which so many are corrected. searched is
// set after a detection, saved if the corrected picture is saved.
func frameState(findings, corrected int, searched, saved bool) FrameState {
	switch {
	case findings == 0 && searched:
		return FrameClear
	case findings == 0:
		return FrameToDo
	case corrected < findings:
		return FrameFound
	case saved:
		return FrameSaved
	}
	return FrameCorrected
}

// stateOf returns the state of work, and the number of findings in its mask.
func stateOf(w document.Work, saved bool) (state FrameState, findings int) {
	findings = len(processing.Spots(w.Mask))
	return frameState(findings, len(w.Spots), w.Found != nil, saved), findings
}

// followFilm updates the frame of the open picture.
func (s *Session) followFilm() {
	if s.doc == nil || len(s.film.frames) == 0 {
		return
	}
	s.setFrame(s.doc.Path(), func(f *Frame) {
		if s.small != nil {
			f.Small = s.small
		}
		f.State, f.Findings = documentState(s.doc)
		if f.State == FrameSaved {
			f.Err = nil
		}
	})
}

// documentState returns the state of the work in a document, and the number of findings in its mask.
func documentState(d *document.Document) (state FrameState, findings int) {
	findings, corrected := countFindings(d)
	return frameState(findings, corrected, d.Result() != nil, !d.PictureDirty()), findings
}

// countFindings returns the number of findings in the mask, and how many of them are corrected.
func countFindings(d *document.Document) (findings, corrected int) {
	for _, f := range d.Spots() {
		findings++
		if f.State == document.Corrected {
			corrected++
		}
	}
	return findings, corrected
}

// FrameBeside returns the path of the picture direction places after the open one in the filmstrip, before it if
// negative. ok is false if there is none.
func (s *Session) FrameBeside(direction int) (path string, ok bool) {
	if s.doc == nil {
		return "", false
	}
	i := slices.IndexFunc(s.film.frames, func(f Frame) bool { return f.Path == s.doc.Path() }) + direction
	if i < 0 || i >= len(s.film.frames) {
		return "", false
	}
	return s.film.frames[i].Path, true
}

// Batch is the result of RunBatch, in numbers of pictures.
type Batch struct {
	// Done were processed, Skipped needed nothing, Failed had errors.
	Done, Skipped, Failed int
}

// RunBatch processes all pictures of the filmstrip, one after the other, with the current parameters. It detects glare
// where none is marked. With correct, it also corrects and saves what is not saved, with a report in the given language
// if the settings ask for one. The work on each picture is stored in its project. Existing files are not overwritten.
// An error of one picture is stored in its frame, and the others are still processed. Of the open picture, only what
// its project holds is used, so its work must be saved there before; it is opened again at the end.
func (s *Session) RunBatch(correct bool, lang string, done func(Batch, error)) {
	s.settle()
	frames, params, open := s.Film(), s.settings.Params, ""
	if s.doc != nil {
		open = s.doc.Path()
	}
	if !s.settings.WriteReport {
		lang = ""
	}
	work := func(ctx context.Context, progress processing.Progress) (b Batch, err error) {
		for i, f := range frames {
			stage := message.Of("%d of %d: %s", i+1, len(frames), filepath.Base(f.Path))
			t := batchItem{s: s, ctx: ctx, path: f.Path, params: params, correct: correct, lang: lang}
			t.report = func(share float64) { progress(stage, (float64(i)+share)/float64(len(frames))) }
			t.report(0)
			worked, err := t.run()
			switch {
			case ctx.Err() != nil:
				return b, ctx.Err()
			case err != nil:
				b.Failed++
			case worked:
				b.Done++
			default:
				b.Skipped++
			}
			s.dispatch(func() {
				s.setFrame(f.Path, func(f *Frame) {
					f.Err = err
					if err == nil {
						f.State, f.Findings = t.state, t.findings
					}
					if t.small != nil {
						f.Small = t.small
					}
				})
				s.publish(Other, image.Rectangle{})
			})
		}
		return b, nil
	}
	start(s, Other, work, nil, func(b Batch, err error) {
		if open == "" {
			done(b, err)
			return
		}
		s.Open(open, func(reopened error) { done(b, errors.Join(err, reopened)) })
	})
}

// batchItem processes one picture of a batch.
type batchItem struct {
	s          *Session
	ctx        context.Context
	path, lang string
	params     processing.Params
	correct    bool
	// report is called with the share of the work on the picture that is done, 0…1.
	report func(share float64)

	state    FrameState
	findings int
	small    image.Image
	// left are the findings that were left to a person.
	left []processing.Finding
}

// run processes the picture; worked is false if nothing had to be done.
func (t *batchItem) run() (worked bool, err error) {
	file, err := t.s.files.Read(t.ctx, t.path)
	if err != nil {
		return false, err
	}
	o := opened{file: file, screen: thumbnail.Screen(file.Picture, file.Profile)}
	if o.doc, err = document.New(t.path, file.Picture); err != nil {
		return false, err
	}
	if err := t.s.continueProject(t.ctx, t.path, &o); err != nil {
		return false, err
	}
	if o.continued.Err != nil {
		return false, o.continued.Err
	}
	if o.params == nil {
		o.params = &t.params
	}
	if t.small, err = thumbnail.Make(t.ctx, file.Picture, o.screen, file.Orientation, thumbnailSize); err != nil {
		return false, err
	}
	worked, err = t.process(&o)
	if err == nil && worked {
		err = t.saveProject(&o)
	}
	t.state, t.findings = documentState(o.doc)
	return worked, err
}

// process detects, corrects and saves, as far as necessary.
func (t *batchItem) process(o *opened) (worked bool, err error) {
	state, _ := documentState(o.doc)
	if state == FrameToDo {
		r, _, err := t.s.engine.Detect(t.ctx, o.doc.Picture(), *o.params,
			detect.Options{Progress: t.within(shareRead, shareDetected)})
		if err == nil {
			_, err = o.doc.ApplyResult(&r.Result, nil)
		}
		if err != nil {
			return false, err
		}
		worked = true
	}
	state, _ = documentState(o.doc)
	if !t.correct || state == FrameClear || state == FrameSaved {
		return worked, nil
	}
	if state == FrameFound {
		if err := t.correctAll(o); err != nil || o.doc.Corrections() == nil {
			return worked, err
		}
	}
	shot := o.doc.Snapshot()
	account := accountOf(o.file, o.doc, t.s.version)
	account.Mask, account.Date, account.Left = shot.Mask(), time.Now(), t.left
	path := imagefile.DefaultName(t.path, o.file.SaveFormat())
	saving := imagefile.SaveOptions{Progress: t.within(shareCorrected, 1)}
	if _, err := t.s.files.Save(t.ctx, account, path, t.lang, saving); err != nil {
		return worked, err
	}
	o.doc.MarkPictureSaved(shot.Corrections.Generation())
	return true, nil
}

// Rough shares of the time for one picture, if it is corrected too, after each part.
const shareRead, shareDetected, shareCorrected = 0.1, 0.4, 0.85

// within returns the progress function of a part of the work, from one share to another. Without correction, detection
// counts as the end.
func (t *batchItem) within(from, to float64) processing.Progress {
	whole := 1.0
	if !t.correct {
		whole = shareDetected
	}
	return func(_ message.Message, done float64) { t.report(min((from+done*(to-from))/whole, 1)) }
}

// correctAll corrects the findings that may be corrected without anyone watching, each with the method that was chosen
// for it. What the user has kept counts as watched.
func (t *batchItem) correctAll(o *opened) error {
	asked := map[int]processing.Method{}
	var found []processing.Finding
	for _, f := range o.doc.Spots() {
		asked[f.ID] = f.Asked
		at := o.doc.FirstPixel(f)
		f.Runs, f.Check = o.doc.SpotRuns(at.X, at.Y), f.Check && f.Decision != document.Kept
		found = append(found, f.Finding)
	}
	mask := o.doc.Snapshot().Mask()
	_, left, err := consent.Choose(mask, found, *o.params)
	if err != nil {
		return err
	}
	alone := map[int]bool{}
	for _, f := range left {
		alone[f.ID] = true
	}
	t.left = left
	spots := slices.DeleteFunc(processing.Spots(mask), func(s processing.Spot) bool { return alone[s.ID] })
	if len(spots) == 0 {
		return nil
	}
	for i := range spots {
		spots[i].Method = asked[spots[i].ID]
	}
	c, _, err := t.s.engine.Correct(t.ctx, o.doc.Picture(), mask, *o.params,
		processing.CorrectOptions{Spots: spots, Progress: t.within(shareDetected, shareCorrected)})
	if err == nil {
		_, err = o.doc.ApplyCorrection(c, spots, *o.params)
	}
	return err
}

// saveProject saves the project.
func (t *batchItem) saveProject(o *opened) error {
	return project.Write(t.ctx, t.path, &project.Project{
		Checksum: project.Checksum(o.file.Picture), Date: time.Now().Round(time.Second), Params: *o.params,
		Work: o.doc.Snapshot().Work(), Saved: o.doc.Corrections() != nil && !o.doc.PictureDirty(),
	}, project.Options{Expect: o.project, Like: o.file})
}

// accountOf describes the corrections of a document for the report.
func accountOf(file *imagefile.File, doc *document.Document, version string) report.Correction {
	var found *processing.Result
	if r := doc.Result(); r != nil {
		all := *r
		all.Findings = doc.Findings()
		found = &all
	}
	done := doc.Corrections()
	account := report.NewCorrection(file, version, found, done.Patches(), done.Origins())
	account.Numbers = doc.CorrectedNumbers()
	return account
}
