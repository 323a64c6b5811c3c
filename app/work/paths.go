package work

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"unicode/utf16"

	"blik/app/imagefile"
	"blik/internal/message"
)

// Stem returns the name of a file without folder and extension.
func Stem(path string) string {
	base := filepath.Base(path)
	if name := strings.TrimSuffix(base, filepath.Ext(base)); name != "" {
		return name
	}
	return base
}

// Tail returns what follows the stem of a file in the name of its first result, as messages show it.
func (w *Work) Tail() string {
	if w.Detect {
		return "_mask.png"
	}
	return "_corrected"
}

// Distinct refuses two files that would write the same results.
func (w *Work) Distinct(files []string) error {
	fold := func(s string) string { return s }
	if runtime.GOOS == "windows" || runtime.GOOS == "darwin" {
		fold = strings.ToLower // file names are not case-sensitive there
	}
	first := map[string]string{}
	for _, file := range files {
		name := Stem(file)
		if other, ok := first[fold(name)]; ok {
			return message.Errorf("%s and %s would both write %s; give them different names or run them separately",
				other, file, name+w.Tail())
		}
		first[fold(name)] = file
	}
	return nil
}

func nonEmpty(paths ...string) []string {
	return slices.DeleteFunc(paths, func(path string) bool { return path == "" })
}

// Exists reports whether there is a file, a folder or a link at path.
func Exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// Free refuses outputs that are inputs, and without overwrite existing ones. what names the input to which they belong.
func Free(outputs []string, overwrite bool, inputs FileSet, what string) error {
	for _, path := range outputs {
		switch {
		case inputs.Contains(path):
			return message.Errorf("%s is an input and would be overwritten by the result of %s; choose another folder "+
				"with -o", path, what)
		case Exists(path) && !overwrite:
			return message.New(message.Of("%s exists; --overwrite replaces it", path), imagefile.ErrExists)
		}
	}
	return nil
}

// maxName is the longest name of a file that the usual file systems allow: in bytes, on Windows and macOS in UTF-16
// units.
const maxName = 255

// shortEnough returns an error if the name of an output is longer than file systems allow. what is the input.
func shortEnough(outputs []string, what string) error {
	for _, path := range outputs {
		name := filepath.Base(path)
		n := len(name)
		if runtime.GOOS == "windows" || runtime.GOOS == "darwin" {
			n = len(utf16.Encode([]rune(name)))
		}
		if n > maxName {
			return message.Errorf(
				"%s: the name of a result would be %d bytes long, and file systems allow %d; give the original a "+
					"shorter name", what, n, maxName)
		}
	}
	return nil
}

// FileSet holds existing files and recognises them under any name.
type FileSet []os.FileInfo

func Existing(paths ...string) FileSet {
	var set FileSet
	for _, path := range paths {
		if info, err := os.Stat(path); err == nil {
			set = append(set, info)
		}
	}
	return set
}

func (s FileSet) Contains(path string) bool {
	info, err := os.Stat(path)
	return err == nil && slices.ContainsFunc(s, func(other os.FileInfo) bool { return os.SameFile(info, other) })
}

// FindMask returns the first file in a folder whose name is one of names with one of tails and the extension of a mask,
// empty if there is none. Files in except do not count.
func FindMask(folder string, names, tails []string, except FileSet) string {
	for _, name := range names {
		for _, tail := range tails {
			for _, extension := range imagefile.MaskExtensions() {
				path := filepath.Join(folder, name+tail+"."+extension)
				if info, err := os.Stat(path); err == nil && !info.IsDir() && !except.Contains(path) {
					return path
				}
			}
		}
	}
	return ""
}

// maskOf returns the path of the mask of a picture; empty if the glare is to be detected.
func (w *Work) maskOf(picture string) (string, error) {
	if w.Mask != "" || w.MaskFolder == "" {
		return w.Mask, nil
	}
	name := Stem(picture)
	names := []string{name}
	for _, tail := range []string{"_glare", "_image"} {
		if short, ok := strings.CutSuffix(name, tail); ok {
			names = append(names, short)
		}
	}
	tails := []string{"_mask", "", "_glare_mask", "_image_mask", "_pred"}
	path := FindMask(w.MaskFolder, names, tails, Existing(picture))
	if path == "" {
		if info, err := os.Stat(w.MaskFolder); err != nil || !info.IsDir() {
			return "", message.Errorf("%s: no such folder", w.MaskFolder)
		}
		if _, err := os.ReadDir(w.MaskFolder); err != nil {
			return "", message.Errorf("%s: the folder cannot be read (%w)", w.MaskFolder, message.Plain(err))
		}
		return "", message.Errorf("%s: no mask for it in %s", picture, w.MaskFolder)
	}
	return path, nil
}
