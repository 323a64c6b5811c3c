package farm

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"blik/internal/message"
)

// Root is a folder of this machine that jobs may refer to.
type Root struct {
	// Name is its name in jobs; empty if all machines see the folder under the same path.
	Name   string
	Folder string
	// Write permits results below it.
	Write bool
}

// ParseRoot reads NAME=FOLDER or FOLDER.
func ParseRoot(text string, write bool) (Root, error) {
	name, folder, named := strings.Cut(text, "=")
	if !named {
		name, folder = "", text
	}
	if folder == "" || named && (name == "" || strings.ContainsAny(name, `/\: `)) {
		return Root{}, message.Errorf("%s is not a root: FOLDER or NAME=FOLDER expected", text)
	}
	full, err := filepath.Abs(folder)
	if err != nil {
		return Root{}, message.Errorf("%s: the folder cannot be found (%w)", folder, message.Plain(err))
	}
	return Root{Name: name, Folder: full, Write: write}, nil
}

// Roots are the roots of a machine.
type Roots []Root

// errUnmounted is the cause of the error of a missing root: a fault of the machine, not of the file.
var errUnmounted = message.Errorf("not mounted")

// place returns the name of a file or folder of this machine in jobs: relative to a named root, if one contains it.
func (r Roots) place(name string) (Place, error) {
	full, err := filepath.Abs(name)
	if err != nil {
		return Place{}, message.Errorf("%s: the folder cannot be found (%w)", name, message.Plain(err))
	}
	for _, root := range r {
		if rel, err := filepath.Rel(root.Folder, full); err == nil && root.Name != "" && filepath.IsLocal(rel) {
			return Place{root.Name, filepath.ToSlash(rel)}, nil
		}
	}
	return Place{Path: filepath.ToSlash(full)}, nil
}

// Find returns the path of a place on this machine, and refuses places outside the roots, whether by "..", an absolute
// path or a link. create makes the folder if it is missing; the place must then lie in a root for writing.
func (r Roots) Find(p Place, create bool) (string, error) {
	var unmounted error
	for _, root := range r {
		if root.Name != p.Root || create && !root.Write {
			continue
		}
		local := filepath.FromSlash(p.Path)
		if p.Root == "" {
			rel, err := filepath.Rel(root.Folder, local)
			if err != nil || !filepath.IsAbs(local) {
				continue
			}
			local = rel
		}
		// path.Clean would hide "..": a/../../b must not be accepted as a path within a root.
		if !filepath.IsLocal(local) || slices.Contains(strings.Split(p.Path, "/"), "..") {
			continue
		}
		if err := mounted(root); err != nil {
			unmounted = err
			continue
		}
		return root.open(local, create)
	}
	if unmounted != nil {
		return "", unmounted
	}
	if create {
		return "", message.Errorf("%s is not in a folder that this worker may write to (--output-root)", p.String())
	}
	return "", message.Errorf("%s is not in a folder that this worker may read (--root)", p.String())
}

// mounted refuses a missing or empty root, as an unmounted share appears.
func mounted(root Root) error {
	f, err := os.Open(root.Folder)
	if err == nil {
		defer f.Close()
		var names []string
		if names, err = f.Readdirnames(1); err == nil && len(names) > 0 || root.Write {
			return nil
		}
	}
	return notMounted(root, err)
}

// notMounted returns the error for a root that is missing, empty (io.EOF) or cannot be opened.
func notMounted(root Root, err error) error {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, io.EOF) {
		return message.Errorf("%s is missing or empty: is the share mounted? (%w)", root.Folder, errUnmounted)
	}
	why := message.Of("%s: the folder cannot be read (%w)", root.Folder, message.Plain(err))
	return message.New(why, errUnmounted)
}

// open returns the path below the root, following only links that stay within it. A file keeps the name that it has
// there, after which its results are named.
func (root Root) open(local string, create bool) (string, error) {
	full := filepath.Join(root.Folder, local)
	name, makeFolder, stat := full, os.MkdirAll, os.Stat
	resolve := func(path string) (string, error) { return path, nil }
	// Nothing leads out of a whole drive, but os.Root refuses absolute links also there.
	if filepath.Dir(root.Folder) != root.Folder {
		top, err := os.OpenRoot(root.Folder)
		if err != nil {
			return "", notMounted(root, err)
		}
		defer top.Close()
		name, makeFolder, stat, resolve = local, top.MkdirAll, top.Stat, filepath.EvalSymlinks
	}
	folder, base := filepath.Split(full)
	if create {
		folder, base = full, ""
		if err := makeFolder(name, 0o777); err != nil {
			return "", message.Errorf("%s: the folder cannot be created (%w)", full, message.Plain(err))
		}
	}
	// os.Root refuses links that lead out of it.
	_, err := stat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return "", message.Errorf("%s: no such file", full)
	}
	if err == nil {
		folder, err = resolve(folder)
	}
	if err != nil {
		return "", message.Errorf("%s cannot be reached, or leads out of its root (%w)", full, message.Plain(err))
	}
	return filepath.Join(folder, base), nil
}

// Portable rejects names that some systems do not allow, so that every worker can write its results.
func Portable(slashed string) error {
	for name := range strings.SplitSeq(slashed, "/") {
		if name == "" || name == "." || name == ".." {
			continue
		}
		base, _, _ := strings.Cut(strings.ToUpper(name), ".")
		reserved := slices.Contains([]string{"CON", "PRN", "AUX", "NUL"}, base) ||
			len(base) == 4 && (base[:3] == "COM" || base[:3] == "LPT") && base[3] >= '1' && base[3] <= '9'
		bad := strings.IndexFunc(name, func(r rune) bool { return r < ' ' || strings.ContainsRune(`<>:"|?*\`, r) })
		switch {
		case reserved:
			return message.Errorf("%s: Windows does not allow files named %s", slashed, name)
		case bad >= 0:
			return message.Errorf("%s: Windows does not allow %q in names", slashed, name[bad:bad+1])
		case strings.HasSuffix(name, " ") || strings.HasSuffix(name, "."):
			return message.Errorf("%s: Windows does not allow names that end in a space or a period", slashed)
		}
	}
	return nil
}

// examine returns the information on a file to be submitted.
func examine(file string) (os.FileInfo, error) {
	info, err := os.Stat(file)
	switch {
	case err == nil && !utf8.ValidString(file):
		return nil, message.Errorf("%s: the name is not UTF-8; rename the file", file)
	case errors.Is(err, fs.ErrNotExist):
		return nil, message.Errorf("%s: no such file", file)
	case err != nil:
		return nil, message.Errorf("%s: the file cannot be opened (%w)", file, message.Plain(err))
	case info.IsDir():
		return nil, message.Errorf("%s: this is a folder, not a picture", file)
	case !info.Mode().IsRegular():
		return nil, message.Errorf("%s: this is not a regular file", file)
	}
	return info, nil
}

// NewUpload returns the job for a file of this machine that is uploaded to the object store and whose results are
// downloaded to a folder below the folder of all results.
func NewUpload(ctx context.Context, file, folder string) (Job, error) {
	if _, err := examine(file); err != nil {
		return Job{}, err
	}
	sum, size, err := sumOf(ctx, file)
	if err != nil {
		return Job{}, message.Errorf("%s: the file cannot be read (%w)", file, message.Plain(err))
	}
	folder = path.Clean(filepath.ToSlash(folder))
	return Job{
		In: Place{Path: path.Join(folder, filepath.Base(file))}, Out: Place{Path: folder},
		Size: size, Upload: sum, file: file,
	}, nil
}

// NewJob returns the job for a file of this machine whose results go to a folder.
func (r Roots) NewJob(file, out string) (Job, error) {
	info, err := examine(file)
	if err != nil {
		return Job{}, err
	}
	in, err := r.place(file)
	if err != nil {
		return Job{}, err
	}
	target, err := r.place(out)
	return Job{In: in, Out: target, Size: info.Size(), Modified: info.ModTime().UnixMilli()}, err
}
