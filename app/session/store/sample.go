package store

import (
	"os"
	"path/filepath"

	"blik/assets"
	"blik/internal/atomicfile"
)

// WriteSample writes the sample painting into the user's cache folder and returns its path.
func WriteSample() (path string, err error) {
	folder, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	path = filepath.Join(folder, "blik", "sample.jpg")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return "", err
	}
	return path, atomicfile.WriteFile(path, assets.Sample(), 0o600)
}
