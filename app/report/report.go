// Package report writes what detection found: a table for spreadsheets, a complete record as JSON, and a copy of
// the picture with the findings outlined.
package report

import (
	"encoding/csv"
	"encoding/json"
	"io"
	"math"
	"strconv"
	"strings"

	"blik/app/i18n"
	"blik/app/preset"
	"blik/internal/message"
	"blik/processing"
	"blik/processing/detect"
)

// Format and version name the JSON that WriteJSON writes.
const (
	Format  = "blik findings"
	version = 1
)

// Report describes the detection on one picture.
type Report struct {
	// File is the name of the picture file.
	File string
	// Program is the version of the program.
	Program string
	// Picture provides size, channels and depth; its samples are not read.
	Picture *processing.Picture
	// Region is the search region, nil for the whole picture.
	Region *processing.Region
	// Mode is the requested mode; Result.Params always holds the values in manual form.
	Mode   processing.Mode
	Result *detect.Found
}

// Table is the form of a table of findings.
type Table string

// The forms.
const (
	// Comma separates columns with commas and writes decimal points (RFC 4180).
	Comma Table = "comma"
	// Semicolon separates columns with semicolons, writes decimal commas, and begins with a byte order mark, as
	// spreadsheets expect it in countries with a decimal comma.
	Semicolon Table = "semicolon"
)

// Tables returns the names of all forms, the default first.
func Tables() []string { return []string{string(Comma), string(Semicolon)} }

// WriteCSV writes a line for each finding under a heading; the first column is the file's name, so that tables of
// several pictures can be joined. The form does not depend on the language.
func WriteCSV(w io.Writer, r Report, t Table) error {
	c := csv.NewWriter(w)
	point := "."
	if t == Semicolon {
		const byteOrderMark = "\ufeff"
		if _, err := io.WriteString(w, byteOrderMark); err != nil {
			return err
		}
		c.Comma, point = ';', ","
	}
	rows := [][]string{heading("strength", "rise", "kind", "certainty", "check", "reasons")}
	real := func(v float64, digits int) string {
		return strings.Replace(strconv.FormatFloat(v, 'f', digits, 64), ".", point, 1)
	}
	for _, f := range r.Result.Findings {
		rows = append(rows, append(where(r.File, f.ID, &f, real), strconv.Itoa(f.Peak), real(f.Contrast, 4),
			real(f.Elongation, 2), real(f.Score, 3), real(f.Strength, 2), strconv.Itoa(f.Rise), f.Kind.ID(),
			certainty(f.Evidence, real), check(f.Evidence), inWords(f.Reasons())))
	}
	return c.WriteAll(rows)
}

// heading returns the heading of a table of findings: the columns that all have, and further ones.
func heading(further ...string) []string {
	return append([]string{
		"file", "id", "x", "y", "left", "top", "width", "height", "area", "peak", "contrast", "elongation", "score",
	}, further...)
}

// where returns the first cells of a finding in a table, up to its area, with decimals written by real.
func where(file string, id int, f *detect.Finding, real func(v float64, digits int) string) []string {
	all := []string{cell(file), strconv.Itoa(id), real(f.X, 2), real(f.Y, 2)}
	for _, n := range []int{f.Left, f.Top, f.Width, f.Height, f.Area} {
		all = append(all, strconv.Itoa(n))
	}
	return all
}

// cell returns a name for a table. Spreadsheets interpret text that begins with certain characters as a formula, which
// an apostrophe prevents (OWASP, CSV Injection).
func cell(name string) string {
	name = message.Printable(name)
	if name != "" && strings.ContainsRune("=+-@|%", rune(name[0])) {
		return "'" + name
	}
	return name
}

// certainty returns the certainty for a table, with its decimals written by real; empty if it is not known.
func certainty(e detect.Evidence, real func(v float64, digits int) string) string {
	if e.Certainty == 0 {
		return ""
	}
	return real(e.Certainty, 2)
}

// check returns "check" for a finding that a person should look at, else nothing.
func check(e detect.Evidence) string {
	if e.Check {
		return "check"
	}
	return ""
}

// inWords lists reasons in English.
func inWords(reasons []detect.Reason) string {
	words := make([]string, len(reasons))
	for i, r := range reasons {
		words[i] = r.Message().String()
	}
	// Spreadsheets that assume another encoding still read ASCII correctly.
	return strings.ReplaceAll(strings.Join(words, "; "), "−", "-")
}

// text is a message in every language of the program, by language code.
type text map[string]string

type chosen struct {
	detect.Chosen
	Name text `json:"name"`
	Unit text `json:"unit"`
	Why  text `json:"why"`
}

type record struct {
	Format   string `json:"format"`
	Version  int    `json:"version"`
	Program  string `json:"program"`
	File     string `json:"file"`
	Width    int    `json:"width"`
	Height   int    `json:"height"`
	Channels int    `json:"channels"`
	Depth    int    `json:"depth"`
	Device   string `json:"device"`
	Mode     string `json:"mode"`
	Region   string `json:"region,omitempty"`
	MaskArea int    `json:"mask_area"`
	// Preset is complete: stored in its own file it repeats the detection.
	Preset   json.RawMessage  `json:"preset"`
	Chosen   []chosen         `json:"chosen"`
	Findings []detect.Finding `json:"findings"`
	// Kinds names the kinds of findings.
	Kinds map[string]text `json:"kinds"`
}

// positionDecimals is the number of decimals of positions in JSON.
const positionDecimals = 2

// rounded returns findings for JSON, with real numbers of as many decimals as mean something; never nil.
func rounded(findings []detect.Finding) []detect.Finding {
	all := make([]detect.Finding, len(findings))
	for i, f := range findings {
		f.X, f.Y = round(f.X, positionDecimals), round(f.Y, positionDecimals)
		f.Elongation, f.Certainty = round(f.Elongation, 2), round(f.Certainty, 2)
		f.Score, f.Strength, f.Contrast = round(f.Score, 3), round(f.Strength, 4), round(f.Contrast, 4)
		for k, share := range f.Shares {
			f.Shares[k] = round(share, 3)
		}
		all[i] = f
	}
	return all
}

// round rounds to a number of decimals.
func round(v float64, decimals int) float64 {
	unit := math.Pow10(decimals)
	return math.Round(v*unit) / unit
}

// WriteJSON writes everything: picture, device, the values used (as a preset that repeats the detection), the
// measurements and choices of adaptive mode with reasons, in both languages, and the findings. The same result gives
// the same bytes.
func WriteJSON(w io.Writer, r Report) error {
	rec := record{
		Format: Format, Version: version, Program: r.Program, File: r.File,
		Width: r.Picture.Width, Height: r.Picture.Height, Channels: r.Picture.Channels, Depth: r.Picture.Depth(),
		Device: r.Result.Device, Mode: "adaptive", MaskArea: r.Result.Mask.Area(),
		Preset: preset.Encode(r.Result.Params), Chosen: []chosen{}, Findings: rounded(r.Result.Findings),
	}
	if r.Mode == processing.Manual {
		rec.Mode = "manual"
	}
	if r.Region != nil {
		rec.Region = r.Region.String()
	}
	rec.Kinds = map[string]text{}
	for k := range detect.GlintKind(detect.GlintKinds) {
		rec.Kinds[k.ID()] = i18n.AllLanguages(k.Name())
	}
	for _, c := range r.Result.Chosen {
		c.Value = round(c.Value, 4)
		rec.Chosen = append(rec.Chosen,
			chosen{c, i18n.AllLanguages(c.Name), i18n.AllLanguages(c.Unit), i18n.AllLanguages(c.Why)})
	}
	return writeJSON(w, rec)
}
