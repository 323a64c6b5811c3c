package cli

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"unicode/utf16"

	workbatch "blik/app/batch"
	"blik/app/imagefile"
	"blik/internal/message"
)

// expand returns the files named by the arguments, each once. Patterns that the shell did not expand are expanded here;
// a pattern without matches is kept and fails when it is opened.
func expand(args []string) []string {
	var files []string
	seen := map[string]bool{}
	add := func(path string) {
		if key := filepath.Clean(path); !seen[key] {
			seen[key] = true
			files = append(files, path)
		}
	}
	for _, arg := range args {
		matches := []string(nil)
		if strings.ContainsAny(arg, "*?[") && !exists(arg) {
			matches, _ = filepath.Glob(arg)
		}
		if matches == nil {
			add(arg)
			continue
		}
		for _, m := range matches {
			if info, err := os.Stat(m); err != nil || !info.IsDir() {
				add(m)
			}
		}
	}
	return files
}

// exists reports whether there is a file, a folder or a link at path.
func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// stem returns a file's name without folder and extension.
func stem(path string) string { return workbatch.Stem(path) }

// stems returns the stems of the inputs, and refuses two that would write the same file, NAME with the given tail.
func (p *program) stems(inputs []string, tail string) ([]string, error) {
	fold := func(s string) string { return s }
	if runtime.GOOS == "windows" || runtime.GOOS == "darwin" {
		fold = strings.ToLower // file names are not case-sensitive there
	}
	names := make([]string, len(inputs))
	first := map[string]string{}
	for i, input := range inputs {
		names[i] = stem(input)
		if other, ok := first[fold(names[i])]; ok {
			return nil, p.usage("%s and %s would both write %s; give them different names or run them separately",
				other, input, names[i]+tail)
		}
		first[fold(names[i])] = input
	}
	return names, nil
}

// overwritesInput returns the error for an output that is an input.
func overwritesInput(output, input string) error {
	return message.Errorf("%s is an input and would be overwritten by the result of %s; choose another folder with -o",
		output, input)
}

// free refuses outputs that are inputs, and without overwrite existing ones. what names the input to which they belong.
func free(outputs []string, overwrite bool, inputs fileSet, what string) error {
	for _, path := range outputs {
		switch {
		case inputs.contains(path):
			return overwritesInput(path, what)
		case exists(path) && !overwrite:
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

// fileSet holds existing files and recognises them under any name.
type fileSet []os.FileInfo

// existing returns the files that exist.
func existing(paths ...string) fileSet {
	var set fileSet
	for _, path := range paths {
		if info, err := os.Stat(path); err == nil {
			set = append(set, info)
		}
	}
	return set
}

// contains reports whether the file at path is in the set.
func (s fileSet) contains(path string) bool {
	info, err := os.Stat(path)
	return err == nil && slices.ContainsFunc(s, func(other os.FileInfo) bool { return os.SameFile(info, other) })
}

// findMask returns the first file in a folder whose name is one of names with one of tails and the extension of a mask,
// empty if there is none. Files in except do not count.
func findMask(folder string, names, tails []string, except fileSet) string {
	for _, name := range names {
		for _, tail := range tails {
			for _, extension := range imagefile.MaskExtensions() {
				path := filepath.Join(folder, name+tail+"."+extension)
				if info, err := os.Stat(path); err == nil && !info.IsDir() && !except.contains(path) {
					return path
				}
			}
		}
	}
	return ""
}
