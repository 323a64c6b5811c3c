package files

import (
	"context"
	"errors"
	"path/filepath"
	"strings"

	"blik/app/imagefile"
	"blik/internal/message"
	"blik/ui/filedialog"
)

// ChooseCompared lets the user choose a mask to compare with.
func (f *Files) ChooseCompared() {
	f.o.Dialogs.Open(filedialog.Request{
		Title: f.t("Compare with a mask"), Folder: filepath.Dir(f.o.Session.Document().Path()),
		Name: f.t("Masks"), Extensions: imagefile.MaskExtensions(),
	}, f.chosen(func(path string) { f.CompareMask(path, false) }))
}

// CompareMask compares with a mask from a file. It asks first whether a picture that hardly is a mask is meant.
func (f *Files) CompareMask(path string, anyPicture bool) {
	f.waitHere(message.Of("Load %s", filepath.Base(path)), func() {
		f.o.Analysis.CompareMask(path, anyPicture, func(err error) {
			switch {
			case errors.Is(err, imagefile.ErrNotMask):
				f.confirmMask(err, func() { f.CompareMask(path, true) })
			case f.o.Prompts.Ended("Could not compare the masks", err):
				f.o.ShowMask()
			}
		})
	})
}

// SaveFindings asks for a file and writes the list there.
func (f *Files) SaveFindings() {
	path := f.o.Session.Document().Path()
	f.o.Dialogs.Save(filedialog.Request{
		Title: f.t("Save findings"), Folder: filepath.Dir(path),
		File: strings.TrimSuffix(filepath.Base(path), filepath.Ext(path)) + "_findings.csv",
		Name: f.t("Tables (CSV)"), Extensions: []string{"csv"},
	}, f.chosen(func(path string) {
		if f.o.Prompts.Ended("Could not save the list of findings", f.o.Found.Save(context.Background(), path)) {
			f.o.Say(f.t("Findings saved: %s", filepath.Base(path)))
		}
	}))
}
