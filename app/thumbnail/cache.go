package thumbnail

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"image"
	"image/jpeg"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"blik/app/imagefile"
)

// Cache stores thumbnails of files in a folder, for the list of recent files.
type Cache struct{ Folder string }

// UserCache returns the cache in the user's cache folder.
func UserCache() (Cache, error) {
	folder, err := os.UserCacheDir()
	return Cache{Folder: filepath.Join(folder, "blik", "thumbnails")}, err
}

// name returns the path of a file's thumbnail. It depends on the file's size and modification time, so that an outdated
// thumbnail is not shown.
func (c Cache) name(path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	path, err = filepath.Abs(path)
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\x00%d\x00%d", path, info.Size(), info.ModTime().UnixNano()))
	return filepath.Join(c.Folder, hex.EncodeToString(sum[:16])+".jpg"), err
}

// Save stores the thumbnail of a file.
func (c Cache) Save(ctx context.Context, path string, m image.Image) error {
	name, err := c.name(path)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(c.Folder, 0o700); err != nil {
		return err
	}
	o := imagefile.WriteOptions{Overwrite: true}
	return imagefile.WriteFile(ctx, name, o, func(w io.Writer) error { return WriteJPEG(w, m) })
}

// Load returns the thumbnail of a file; the error is fs.ErrNotExist if there is none or the file has changed.
func (c Cache) Load(path string) (image.Image, error) {
	name, err := c.name(path)
	if err != nil {
		return nil, err
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	return jpeg.Decode(bytes.NewReader(data))
}

// Prune removes all thumbnails except those of the given files.
func (c Cache) Prune(paths []string) error {
	keep := map[string]bool{}
	for _, path := range paths {
		if name, err := c.name(path); err == nil {
			keep[filepath.Base(name)] = true
		}
	}
	entries, err := os.ReadDir(c.Folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, entry := range entries {
		if !keep[entry.Name()] {
			err = errors.Join(err, os.Remove(filepath.Join(c.Folder, entry.Name())))
		}
	}
	return err
}
