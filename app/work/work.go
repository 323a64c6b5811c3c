package work

import (
	"slices"
	"strings"

	"blik/app/imagefile"
	"blik/app/report"
	"blik/internal/message"
	"blik/processing"
	"blik/processing/detect"
)

// Work says what is done with each file. Texts are those of the flags; Check refuses what they may not be.
type Work struct {
	// Detect: only find the glare.
	Detect bool
	Params processing.Params
	// Region limits the search; empty: the whole picture.
	Region string
	// Limit is the largest picture in megapixels.
	Limit float64
	// Overwrite permits replacing existing files, never originals.
	Overwrite bool

	// Format is the format of a corrected picture; empty: that of the original, TIFF for a JPEG.
	Format   string
	KeepTime bool
	SaveMask bool
	NoReport bool
	// Mask and MaskFolder say where the glare is, in place of a search; at most one of them is set.
	Mask, MaskFolder string

	// Marked and Preview ask for pictures with the findings outlined, the second of at most so many pixels a side.
	Marked  bool
	Preview int
	// Table is the form of the CSV file.
	Table string
}

// Default returns the work that is done if nothing else is asked for.
func Default() Work {
	return Work{Params: processing.DefaultParams(), Limit: 1000, Table: report.Tables()[0]}
}

// The range of Work.Preview.
const (
	minPreview = 16
	maxPreview = 10000
)

// Check refuses values that are not allowed, and combinations that make no sense, in the words of the command line.
func (w *Work) Check() error {
	if _, err := w.region(); err != nil {
		return err
	}
	if _, err := Limits(w.Limit); err != nil {
		return err
	}
	if err := choice("csv", w.Table, report.Tables()); err != nil {
		return err
	}
	if w.Format != "" {
		if err := choice("format", w.Format, Formats()); err != nil {
			return err
		}
	}
	switch {
	case w.Detect && (w.Format != "" || w.KeepTime || w.SaveMask || w.NoReport):
		return message.Errorf(
			"--format, --keep-time, --save-mask and --no-report are for corrections, not for --detect")
	case !w.Detect && (w.Marked || w.Preview != 0):
		return message.Errorf("--marked and --preview are for --detect")
	case w.Preview != 0 && (w.Preview < minPreview || w.Preview > maxPreview):
		return message.Errorf("--preview %d: must be from %d to %d pixels", w.Preview, minPreview, maxPreview)
	case w.Mask != "" && w.MaskFolder != "":
		return message.Errorf("--mask and --mask-dir exclude each other")
	case w.Masked() && w.Region != "":
		return message.Errorf("--region limits detection and cannot be combined with a mask")
	}
	return nil
}

// Masked reports whether masks say where the glare is.
func (w *Work) Masked() bool { return w.Mask != "" || w.MaskFolder != "" }

// region returns the search region; nil for the whole picture.
func (w *Work) region() (*processing.Region, error) {
	if w.Region == "" {
		return nil, nil
	}
	region, err := processing.ParseRegion(w.Region)
	if err != nil {
		return nil, message.Errorf("--region: %v", err)
	}
	return region, nil
}

// Limits returns the limits for pictures of at most so many megapixels.
func Limits(megapixels float64) (imagefile.Limits, error) {
	limits := imagefile.DefaultLimits()
	if !(megapixels > 0 && megapixels <= 1e6) {
		return limits, message.Errorf("--limit %g: must be a positive number of megapixels", megapixels)
	}
	limits.Pixels = int64(megapixels * 1e6)
	return limits, nil
}

// Limits returns the limits of pictures that the work can process.
func (w *Work) Limits() (imagefile.Limits, error) {
	limits, err := Limits(w.Limit)
	limits.Work = detect.BytesPerPixel
	return limits, err
}

// Formats lists the values of Work.Format.
func Formats() []string {
	var names []string
	for _, f := range imagefile.Formats() {
		names = append(names, strings.ToLower(string(f)))
	}
	return names
}

// format returns the format of the result; empty for that of the original.
func (w *Work) format() imagefile.Format {
	if i := slices.Index(Formats(), w.Format); i >= 0 {
		return imagefile.Formats()[i]
	}
	return ""
}

// choice refuses a value that is not one of those allowed.
func choice(flag, value string, allowed []string) error {
	if slices.Contains(allowed, value) {
		return nil
	}
	return message.Errorf("--%s %s: must be one of %s", flag, value, strings.Join(allowed, ", "))
}

// Option describes a field of Work that is a flag of the command line.
type Option struct {
	Name string
	Help message.Text
	// Of says which commands have it.
	Of Kind
	// Field returns the field: a *bool, *int, *float64 or *string.
	Field func(*Work) any
	// Values lists what a text may be; nil: anything. Folder means that it names a folder.
	Values []string
	Folder bool
}

// The help of options that other commands have too.
const (
	OverwriteHelp message.Text = "overwrite existing files; inputs are never overwritten"
	LimitHelp     message.Text = "refuse pictures of more than `N` megapixels"
)

// Kind is a kind of work.
type Kind uint8

// Detection finds the glare, and Correction also removes it. Masked is for corrections of glare that masks show, and
// Tables for detections on one machine.
const (
	Detection Kind = 1 << iota
	Correction
	Masked
	Tables
)

func option[T any](name string, help message.Text, of Kind, field func(*Work) *T, values ...string) Option {
	return Option{Name: name, Help: help, Of: of, Field: func(w *Work) any { return field(w) }, Values: values}
}

// Options lists the options of some kinds of work, in the order of help texts.
func Options(of Kind) []Option {
	masks := option("mask-dir", "take the glare from the masks in this `FOLDER`", Masked,
		func(w *Work) *string { return &w.MaskFolder })
	masks.Folder = true
	all := []Option{
		option("overwrite", OverwriteHelp, Detection|Correction, func(w *Work) *bool { return &w.Overwrite }),
		option("mask", "take the glare from the mask in this picture `FILE`", Masked,
			func(w *Work) *string { return &w.Mask }),
		masks,
		option("format", "`FORMAT` of the result: tiff, png or jpeg; by default that of the original, TIFF for JPEG",
			Correction, func(w *Work) *string { return &w.Format }, Formats()...),
		option("keep-time", "give the result the modification time of the original", Correction,
			func(w *Work) *bool { return &w.KeepTime }),
		option("save-mask", "also write the mask that was used, with halo and veil", Correction,
			func(w *Work) *bool { return &w.SaveMask }),
		option("no-report", "write no report", Correction, func(w *Work) *bool { return &w.NoReport }),
		option("marked", "also write the picture with the findings outlined", Detection,
			func(w *Work) *bool { return &w.Marked }),
		option("preview", "also write a small picture with the findings outlined, at most `N` × N pixels", Detection,
			func(w *Work) *int { return &w.Preview }),
		option("csv", "`FORM` of the CSV file: comma (decimal points), or semicolon (decimal commas and a byte order "+
			"mark, as spreadsheets expect it where a comma is the decimal sign)", Tables,
			func(w *Work) *string { return &w.Table }, report.Tables()...),
		option("region",
			"search only in this `REGION` (pixels): rect:x,y,w,h, ellipse:x,y,w,h or polygon:x,y,x,y,…",
			Detection|Correction, func(w *Work) *string { return &w.Region }),
		option("limit", LimitHelp, Detection|Correction, func(w *Work) *float64 { return &w.Limit }),
	}
	return slices.DeleteFunc(all, func(o Option) bool { return o.Of&of == 0 })
}
