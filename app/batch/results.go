package batch

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html"

	"blik/app/farm"
	"blik/app/imagefile"
	"blik/app/report"
	"blik/app/work"
	"blik/internal/message"
	"blik/processing"
)

// Results checks the files that workers of a farm deliver for uploaded originals of a batch.
type Results struct{ farm.Batch }

var _ farm.Checker = Results{}

// Inputs returns a function that reports whether a path leads to one of the files, under any name.
func Inputs(files []string) func(path string) bool {
	names, existing := map[string]bool{}, work.Existing(files...)
	for _, file := range files {
		if full, err := filepath.Abs(file); err == nil {
			names[strings.ToLower(full)] = true
		}
	}
	return func(path string) bool {
		full, err := filepath.Abs(path)
		return err == nil && names[strings.ToLower(full)] || existing.Contains(path)
	}
}

func (r Results) formats() []imagefile.Format {
	return slices.DeleteFunc(imagefile.Formats(), func(f imagefile.Format) bool {
		if r.Work.Format == "" {
			return f == imagefile.JPEG
		}
		return !strings.EqualFold(string(f), r.Work.Format)
	})
}

// Names implements farm.Checker: blik correct and blik detect would write the same names.
func (r Results) Names(original string, names []string) error {
	base, stem := filepath.Base(original), work.Stem(original)
	var wanted [][]string
	if r.Work.Command == "detect" {
		all := []string{stem + "_mask.png", stem + "_findings.csv", stem + "_findings.json"}
		if r.Work.Marked {
			all = append(all, stem+"_marked.png")
		}
		if r.Work.Preview > 0 {
			all = append(all, stem+"_preview.jpg")
		}
		wanted = append(wanted, all)
	} else {
		for _, f := range r.formats() {
			all := []string{imagefile.DefaultName(base, f)}
			if !r.Work.NoReport {
				jsonName, htmlName := report.CorrectionPaths(all[0])
				all = append(all, htmlName, jsonName)
			}
			if r.Work.SaveMask {
				all = append(all, stem+"_mask.png")
			}
			wanted = append(wanted, all)
		}
	}
	for _, all := range wanted {
		if len(names) > 0 && names[0] == all[0] && slices.Equal(sorted(names), sorted(all)) {
			return nil
		}
	}
	return message.Errorf("the names of its files are not those of results of %s", base)
}

func sorted(names []string) []string { return slices.Sorted(slices.Values(names)) }

// maxText bounds the size of a report.
const maxText = 256 << 20

// MaxBytes implements farm.Checker: a file consists of what the original holds and of the samples of its picture,
// uncompressed and in up to four times as many channels at worst, or is a report.
func (r Results) MaxBytes(original string) int64 {
	size := int64(0)
	if info, err := os.Stat(original); err == nil {
		size = info.Size()
	}
	return maxText + 2*size + 4*imagefile.MemoryFor(original, imagefile.Limits{})
}

// Check implements farm.Checker: only pixels differ from the original, those in the mask if there is one, the report
// fits these files in everything that can be measured, and no file holds anything that acts.
func (r Results) Check(ctx context.Context, original, folder string, names []string) error {
	limits := imagefile.DefaultLimits()
	limits.Pixels = int64(r.Work.Limit * 1e6)
	for _, name := range names {
		if err := checkText(filepath.Join(folder, name)); err != nil {
			return suspect(name, err)
		}
	}
	if r.Work.Command == "detect" {
		return r.checkDetection(ctx, original, folder, names, limits)
	}
	result := filepath.Join(folder, names[0])
	var (
		mask *report.MaskFile
		may  *processing.Mask
		err  error
	)
	if r.Work.SaveMask {
		path := filepath.Join(folder, work.Stem(original)+"_mask.png")
		if may, err = imagefile.ReadMask(ctx, path, 0, 0, limits); err != nil {
			return suspect(filepath.Base(path), err)
		}
		mask = &report.MaskFile{Path: path, Mask: may}
	}
	c, err := imagefile.Compare(ctx, original, result, may, limits, false)
	if err != nil {
		return suspect(names[0], err)
	}
	if !c.Proof.Holds() {
		return &farm.Suspicion{Err: message.Errorf("%s: %w", names[0], message.New(c.Proof.Statement(), nil))}
	}
	lossy, err := isJPEG(original)
	if err != nil {
		return err
	}
	wanted := imagefile.Format("")
	if lossy {
		wanted = imagefile.TIFF
	}
	if r.Work.Format == "" && c.Proof.Converted != wanted {
		return &farm.Suspicion{Err: message.Errorf("%s: this is not the format of the original", names[0])}
	}
	if r.Work.NoReport {
		return nil
	}
	check, err := report.CheckCorrection(ctx, c, mask, r.Program)
	if err != nil {
		return suspect(names[0], err)
	}
	if len(check.Faults) > 0 {
		return &farm.Suspicion{Err: message.New(check.Faults[0], nil)}
	}
	return nil
}

// Renewable implements farm.Checker: only reports hold the time of their making.
func (r Results) Renewable(ctx context.Context, path, result, sum string) bool {
	jsonPath, htmlPath := report.CorrectionPaths(result)
	return r.Work.Command != "detect" && (path == jsonPath || path == htmlPath) && report.Renewable(ctx, result, sum)
}

// checkDetection checks that the mask has the size of the original, and that the other pictures can be read.
func (r Results) checkDetection(ctx context.Context, original, folder string, names []string,
	limits imagefile.Limits,
) error {
	file, err := imagefile.Read(ctx, original, limits)
	if err != nil {
		return err
	}
	w, h := file.Picture.Width, file.Picture.Height
	for i, name := range names {
		switch ext := filepath.Ext(name); {
		case i == 0:
			_, err = imagefile.ReadMask(ctx, filepath.Join(folder, name), w, h, limits)
		case ext == ".png" || ext == ".jpg":
			_, err = imagefile.Read(ctx, filepath.Join(folder, name), limits)
		}
		if err != nil {
			return suspect(name, err)
		}
	}
	return nil
}

// suspect returns the error for a file that cannot be read, unless this machine is at fault.
func suspect(name string, err error) error {
	if errors.Is(err, imagefile.ErrMemory) || errors.Is(err, imagefile.ErrFull) || errors.Is(err, context.Canceled) ||
		errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return &farm.Suspicion{Err: message.Errorf("%s: %w", name, err)}
}

func isJPEG(path string) (bool, error) {
	f, err := os.Open(path)
	if err != nil {
		return false, err
	}
	defer f.Close()
	start := make([]byte, 2)
	_, err = io.ReadFull(f, start)
	return bytes.Equal(start, []byte{0xff, 0xd8}), err
}

// checkText checks files that are not pictures: text, and pages that hold only what reports hold.
func checkText(path string) error {
	ext := filepath.Ext(path)
	if !slices.Contains([]string{".html", ".json", ".csv"}, ext) {
		return nil
	}
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if info.Size() > maxText {
		return message.Errorf("the text is too long")
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if !utf8.Valid(data) || bytes.ContainsRune(data, 0) {
		return message.Errorf("this is not text")
	}
	switch ext {
	case ".html":
		return checkPage(data)
	case ".json":
		if !json.Valid(data) {
			return message.Errorf("this is not a report of Blik")
		}
	}
	return nil
}

// checkPage refuses pages with anything that acts or loads: the reports of Blik hold text, tables and pictures.
func checkPage(data []byte) error {
	acts := message.Errorf("the page holds more than a report of Blik does")
	elements := strings.Fields("html head meta title style body main section header footer article h1 h2 h3 h4 p div " +
		"span table thead tbody tfoot tr th td caption ul ol li dl dt dd figure figcaption img a b i em strong small " +
		"code pre br hr details summary sub sup time colgroup col nav abbr")
	attributes := strings.Fields("class id lang charset name content title alt width height colspan rowspan scope " +
		"loading style src href open datetime role aria-label dir")
	z := html.NewTokenizer(bytes.NewReader(data))
	z.SetMaxBuf(maxText)
	for style := false; ; {
		kind := z.Next()
		switch kind {
		case html.ErrorToken:
			if errors.Is(z.Err(), io.EOF) {
				return nil
			}
			return acts
		case html.TextToken:
			if style && loads(string(z.Text())) {
				return acts
			}
		case html.StartTagToken, html.SelfClosingTagToken, html.EndTagToken:
			t := z.Token()
			style = t.Data == "style" && kind == html.StartTagToken
			if !slices.Contains(elements, t.Data) {
				return acts
			}
			for _, a := range t.Attr {
				value := strings.ToLower(strings.TrimSpace(a.Val))
				switch {
				case !slices.Contains(attributes, a.Key),
					a.Key == "src" && !strings.HasPrefix(value, "data:image/"),
					a.Key == "src" && strings.HasPrefix(value, "data:image/svg"),
					a.Key == "href" && !strings.HasPrefix(value, "#"),
					a.Key == "style" && loads(value):
					return acts
				}
			}
		}
	}
}

// loads reports whether a style sheet refers to other files.
func loads(style string) bool {
	style = strings.ToLower(style)
	return slices.ContainsFunc([]string{"url(", "@import", "expression(", "\\", "image-set("}, func(word string) bool {
		return strings.Contains(style, word)
	})
}
