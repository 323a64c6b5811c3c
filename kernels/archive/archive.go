// Package archive reads and writes the files of kernels/code. Each holds the compiled kernels for one architecture: a
// ZIP archive with a member for each module. The members are compressed one by one with Zstandard, so that one is read
// without the others and Git stores only those that changed. The package must not import kernels, which embeds what it
// writes.
package archive

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"slices"

	"github.com/klauspost/compress/zstd"
)

// Extension is that of the files.
const Extension = ".zip"

// Member is the compiled code of a module for one architecture.
type Member struct {
	// Code is the text of PTX or an ELF file of machine code.
	Code []byte
	// Of is the SHA-256 of the PTX that machine code was made of. PTX names its source itself.
	Of string
}

// Archive is a file that was opened.
type Archive struct{ zip *zip.Reader }

// Open reads the directory of a file.
func Open(file []byte) (Archive, error) {
	r, err := zip.NewReader(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		return Archive{}, err
	}
	r.RegisterDecompressor(zstd.ZipMethodWinZip, zstd.ZipDecompressor())
	return Archive{r}, nil
}

// Names returns the names of the members in order.
func (a Archive) Names() []string {
	var names []string
	for _, f := range a.zip.File {
		names = append(names, f.Name)
	}
	slices.Sort(names)
	return names
}

// Read returns a member. If there is none of that name, the error is fs.ErrNotExist.
func (a Archive) Read(name string) (Member, error) {
	f, err := a.find(name)
	if err != nil {
		return Member{}, err
	}
	r, err := f.Open()
	if err != nil {
		return Member{}, fmt.Errorf("%s: %w", name, err)
	}
	code, err := io.ReadAll(r)
	if err := errors.Join(err, r.Close()); err != nil {
		return Member{}, fmt.Errorf("%s: %w", name, err)
	}
	return Member{Code: code, Of: f.Comment}, nil
}

func (a Archive) find(name string) (*zip.File, error) {
	i := slices.IndexFunc(a.zip.File, func(f *zip.File) bool { return f.Name == name })
	if i < 0 {
		return nil, fmt.Errorf("%s: %w", name, fs.ErrNotExist)
	}
	return a.zip.File[i], nil
}

// Update returns the file with the given members added, or in place of those of the same names, and without the old
// ones that keep refuses. Members that stay the same keep their bytes. The old file may be empty. Without members the
// result is nil.
func Update(old []byte, members map[string]Member, keep func(name string) bool) ([]byte, error) {
	before := Archive{new(zip.Reader)}
	if len(old) > 0 {
		var err error
		if before, err = Open(old); err != nil {
			return nil, err
		}
	}
	names := slices.DeleteFunc(before.Names(), func(name string) bool { return !keep(name) })
	names = append(names, slices.Collect(maps.Keys(members))...)
	slices.Sort(names)
	names = slices.Compact(names)
	if len(names) == 0 {
		return nil, nil
	}

	var file bytes.Buffer
	w := zip.NewWriter(&file)
	// One goroutine and no times: the same members give the same file.
	w.RegisterCompressor(zstd.ZipMethodWinZip, zstd.ZipCompressor(
		zstd.WithEncoderLevel(zstd.SpeedBestCompression), zstd.WithEncoderConcurrency(1)))
	for _, name := range names {
		if err := before.put(w, name, members); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return file.Bytes(), nil
}

// put writes a member: as it is in the archive unless there is a new one that differs.
func (a Archive) put(w *zip.Writer, name string, members map[string]Member) error {
	m, replaced := members[name]
	if f, err := a.find(name); err == nil {
		stored, err := a.Read(name)
		if err != nil {
			return err
		}
		if !replaced || stored.Of == m.Of && bytes.Equal(stored.Code, m.Code) {
			return w.Copy(f)
		}
	}
	to, err := w.CreateHeader(&zip.FileHeader{Name: name, Comment: m.Of, Method: zstd.ZipMethodWinZip})
	if err != nil {
		return err
	}
	_, err = to.Write(m.Code)
	return err
}

// Hash is the SHA-256 of data in hexadecimal digits.
func Hash(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}
