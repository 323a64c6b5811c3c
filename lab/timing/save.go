package timing

import (
	"context"
	"io"
	"path/filepath"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/widget"

	"blik/app/imagefile"
	"blik/internal/message"
	"blik/processing"
	"blik/ui/filedialog"
	"blik/ui/xwidget"
)

// The file types that measurements are saved as: rows, everything, and the visible plot.
const (
	csvFile  = "csv"
	jsonFile = "json"
	pngFile  = "png"
	svgFile  = "svg"
)

// saveRow is a row of buttons, one for each type of file.
type saveRow struct {
	object fyne.CanvasObject
	tables []*xwidget.Button
	plots  []*xwidget.Button
}

// newSaveRow makes the buttons; save is called with an extension.
func newSaveRow(v *View, save func(extension string)) *saveRow {
	r := &saveRow{}
	label := widget.NewLabel(v.t("Save:"))
	row := container.New(layout.NewCustomPaddedHBoxLayout(2), label)
	for _, extension := range []string{csvFile, jsonFile, pngFile, svgFile} {
		b := xwidget.NewButton(strings.ToUpper(extension), keys{v}, func() { save(extension) })
		row.Add(b)
		if extension == csvFile || extension == jsonFile {
			r.tables = append(r.tables, b)
		} else {
			r.plots = append(r.plots, b)
		}
	}
	r.object = row
	return r
}

// enable enables the buttons for tables and for plots.
func (r *saveRow) enable(table, plot bool) {
	for _, b := range r.tables {
		xwidget.SetEnabled(b, table)
	}
	for _, b := range r.plots {
		xwidget.SetEnabled(b, plot)
	}
}

// saveFailed is the title of the error of saving.
const saveFailed message.Text = "Could not save the measurement"

// save asks for a file and writes it.
func (v *View) save(name, extension string, write func(w io.Writer) error) {
	v.files.Save(filedialog.Request{
		Title: v.t("Save measurement"), Folder: v.folder(), File: name + "." + extension,
		Name: v.t("%s files", strings.ToUpper(extension)), Extensions: []string{extension},
	}, func(path string, err error) {
		if err != nil {
			v.showError(saveFailed, err)
			return
		}
		if path == "" {
			return
		}
		start(v, "", saveFailed, func(ctx context.Context, _ processing.Progress) (struct{}, error) {
			return struct{}{}, imagefile.WriteFile(ctx, path, imagefile.WriteOptions{Overwrite: true}, write)
		}, func(_ struct{}, err error) {
			if err == nil {
				v.say(v.t("Saved: %s", filepath.Base(path)))
				v.note("saved-timing %s", path)
			}
		})
	})
}
