package film

import (
	"context"
	"image"
	"slices"
	"time"

	"blik/app/consent"
	"blik/app/document"
	"blik/app/imagefile"
	"blik/app/project"
	"blik/app/session/store"
	"blik/app/work"
	"blik/processing"
	"blik/processing/correct"
	"blik/processing/detect"
)

// sheet is a work.Sheet that begins with what the project of a picture holds, and is stored there.
type sheet struct {
	o *Options
	// folder is that of the result; empty for that of the picture.
	path, folder, lang string
	params             processing.Params
	until              work.Step
	progress           processing.Progress

	store.Work
	file *imagefile.File
	next work.Step
	// left are the findings that were left to a person.
	left []detect.Finding

	// worked is set if anything had to be done.
	worked   bool
	standing Standing
	small    image.Image
}

// run does the work on the picture.
func (t *sheet) run(ctx context.Context) (err error) {
	if t.file, err = t.o.Files.Read(ctx, t.path); err != nil {
		return err
	}
	if t.Work, err = store.Continue(ctx, t.path, t.file); err != nil {
		return err
	}
	if t.Continued.Err != nil {
		return t.Continued.Err
	}
	if t.Params == nil {
		t.Params = &t.params
	}
	small, err := store.MakeThumbnail(ctx, t.file)
	if err != nil {
		return err
	}
	t.small = small
	t.next = t.step()
	steps := work.Steps{Engine: t.o.Engine, Params: *t.Params, Until: t.until, Progress: t.progress}
	t.worked, err = steps.Do(ctx, t.Doc.Picture(), t)
	if err == nil && t.worked {
		err = t.saveProject(ctx)
	}
	t.standing = standingOf(t.Doc)
	return err
}

// step returns the step that follows on the state of the document.
func (t *sheet) step() work.Step {
	return map[FrameState]work.Step{
		FrameToDo: work.Finding, FrameFound: work.Correcting, FrameCorrected: work.Saving,
	}[standingOf(t.Doc).State]
}

func (t *sheet) Next() work.Step { return t.next }

func (t *sheet) Found(r *detect.Found) error {
	_, err := t.Doc.ApplyResult(r, nil)
	if t.next = t.step(); t.next == work.Finding {
		t.next = work.Nothing
	}
	return err
}

// Choose implements work.Sheet: it chooses the findings that may be corrected without anyone watching, each with the
// method that was chosen for it, unless all of them are corrected. What the user has kept counts as watched.
func (t *sheet) Choose() (work.Choice, error) {
	asked, corrected := map[int]processing.Method{}, map[int]bool{}
	var found []detect.Finding
	for _, f := range t.Doc.Spots() {
		asked[f.ID], corrected[f.ID] = f.Asked, f.State == document.Corrected
		at := t.Doc.FirstPixel(f)
		f.Runs, f.Check = t.Doc.SpotRuns(at.X, at.Y), f.Check && f.Decision != document.Kept
		found = append(found, f.Finding)
	}
	mask := t.Doc.Snapshot().Mask()
	var err error
	if _, t.left, err = consent.Choose(mask, found, *t.Params); err != nil {
		return work.Choice{}, err
	}
	alone := map[int]bool{}
	for _, f := range t.left {
		alone[f.ID] = true
	}
	spots := slices.DeleteFunc(processing.Spots(mask), func(s processing.Spot) bool { return alone[s.ID] })
	if !slices.ContainsFunc(spots, func(s processing.Spot) bool { return !corrected[s.ID] }) {
		t.save()
		return work.Choice{}, nil
	}
	for i := range spots {
		spots[i].Method = asked[spots[i].ID]
	}
	return work.Choice{Mask: mask, Spots: spots}, nil
}

// save makes saving the next step, if there are corrections that are not saved.
func (t *sheet) save() {
	t.next = work.Nothing
	if t.Doc.Corrections() != nil && t.Doc.PictureDirty() {
		t.next = work.Saving
	}
}

func (t *sheet) Corrected(c *correct.Correction, chosen work.Choice) error {
	err := t.Doc.ApplyCorrection(c, chosen.Spots, *t.Params)
	t.save()
	return err
}

func (t *sheet) Save(ctx context.Context, progress processing.Progress) error {
	t.next = work.Nothing
	shot := t.Doc.Snapshot()
	account := store.AccountOf(t.file, t.Doc, t.o.Version)
	account.Mask, account.Date, account.Left = shot.Mask(), time.Now(), t.left
	path := imagefile.ResultName(t.path, t.folder, t.file.SaveFormat())
	saving := imagefile.SaveOptions{Progress: progress}
	if _, err := t.o.Files.Save(ctx, account, path, t.lang, saving); err != nil {
		return err
	}
	t.Doc.MarkPictureSaved(shot.Corrections.Generation())
	return nil
}

func (t *sheet) saveProject(ctx context.Context) error {
	return project.Write(ctx, t.path, &project.Project{
		Checksum: project.Checksum(t.file.Picture), Date: time.Now().Round(time.Second), Params: *t.Params,
		Work: t.Doc.Snapshot().Work(), Saved: t.Doc.Corrections() != nil && !t.Doc.PictureDirty(),
	}, project.Options{Expect: t.Project, Like: t.file})
}
