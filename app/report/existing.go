package report

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"blik/app/imagefile"
	"blik/internal/message"
)

// existing holds the fields read from an existing report.
type existing struct {
	Format string `json:"format"`
	// File is the picture that the findings belong to.
	File   string     `json:"file"`
	Result fileRecord `json:"result"`
}

// maxReport bounds the size of a report to be read: one on a hundred thousand places is smaller.
const maxReport = 256 << 20

// readExisting reads the report at path; ok is false for a file that is not a report. A missing file is fs.ErrNotExist.
func readExisting(path string) (r existing, ok bool, err error) {
	data, err := readReport(path)
	if err != nil {
		return r, false, err
	}
	err = json.NewDecoder(bytes.NewReader(data)).Decode(&r)
	return r, err == nil && r.Format != "", nil
}

// readReport reads a report whole; it returns nothing of a file that cannot be one.
func readReport(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxReport {
		return nil, nil
	}
	return os.ReadFile(path)
}

// named reports whether a stored name is that of a file.
func named(stored, path string) bool {
	dir, name := filepath.Dir(path), asStored(filepath.Base(path))
	return stored == name || oneFile(dir, stored, name)
}

// oneFile reports whether two names that differ only in case denote the same file in a folder, as on Windows and macOS.
func oneFile(dir, a, b string) bool {
	if !strings.EqualFold(a, b) {
		return false
	}
	first, err := os.Stat(filepath.Join(dir, a))
	if err != nil {
		return false
	}
	second, err := os.Stat(filepath.Join(dir, b))
	return err == nil && os.SameFile(first, second)
}

// CheckReport refuses to replace a file at path that is not a JSON report of the format on the same file:
// imagefile.ErrForeign. A missing file is not an error.
func CheckReport(path, format, file string) error {
	r, ok, err := readExisting(path)
	switch {
	case imagefile.IsNotExist(err):
		return nil
	case err != nil:
		if _, err := os.Lstat(path); errors.Is(err, fs.ErrPermission) {
			return imagefile.WriteError(path, err)
		}
		return foreign(path, message.Of("not written: the existing file cannot be read"))
	case !ok || r.Format != format:
		return foreign(path, message.Of("not written: this file is not a report of Blik"))
	}
	about := r.File
	if format == CorrectionFormat {
		about = r.Result.File
	}
	if !named(about, filepath.Join(filepath.Dir(path), file)) {
		return foreign(path, message.Of("not written: this is the report on %s, not on %s", about, file))
	}
	return nil
}

// Renewable reports whether writing the reports on a result again loses nothing: those that exist are unaltered, and
// about a result with this SHA-256.
func Renewable(ctx context.Context, result, sum string) bool {
	jsonPath, htmlPath := CorrectionPaths(result)
	page, err := imagefile.SHA256(ctx, htmlPath)
	if err != nil && !imagefile.IsNotExist(err) {
		return false
	}
	data, e := readReport(jsonPath)
	if imagefile.IsNotExist(e) {
		return err != nil // without its report, nothing is known of the page
	}
	var r correctionRecord
	_, unaltered := seal(data)
	return unaltered && json.Unmarshal(data, &r) == nil && strings.EqualFold(r.Result.SHA256, sum) &&
		(err != nil || r.Page != nil && strings.EqualFold(r.Page.SHA256, page))
}

// asStored returns a name as stored in JSON, in which U+FFFD replaces each byte that is not UTF-8.
func asStored(name string) string { return string([]rune(name)) }

func foreign(path string, fault message.Message) error {
	return &imagefile.Error{Path: path, Kind: imagefile.ErrForeign, Fault: fault}
}
