package atomicfile

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"path/filepath"
	"strings"
)

// record lists the names still to be given to the files of a transaction. Once it is on disk, the transaction is
// committed: after a crash Recover completes it.
type record struct {
	// About is that of the transaction.
	About string   `json:"about,omitempty"`
	Steps []naming `json:"steps"`
}

// naming gives a file its name. All names are in one directory.
type naming struct {
	From string `json:"from"`
	To   string `json:"to"`
	// Was identifies the file that is replaced; empty if none existed.
	Was string `json:"was,omitempty"`
	// Keep is a further name for that file.
	Keep string `json:"keep,omitempty"`
}

// encode returns the content of a record: a checksum, which reveals an incomplete record, and the steps.
func (r record) encode() ([]byte, error) {
	body, err := json.Marshal(r)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(body)
	return fmt.Appendf(nil, "%s\n%s\n", hex.EncodeToString(sum[:]), body), nil
}

// decodeRecord is the inverse of encode; ok is false unless the data is a complete record of names in one directory.
func decodeRecord(data []byte) (r record, ok bool) {
	sum, body, _ := strings.Cut(string(data), "\n")
	body = strings.TrimSuffix(body, "\n")
	want := sha256.Sum256([]byte(body))
	if sum != hex.EncodeToString(want[:]) || json.Unmarshal([]byte(body), &r) != nil {
		return record{}, false
	}
	for _, s := range r.Steps {
		temporary, _ := filepath.Match(leftoverPattern, s.From)
		if !temporary || s.To == "" || !local(s.From) || !local(s.To) || s.Keep != "" && !local(s.Keep) {
			return record{}, false
		}
	}
	return r, true
}

// local reports whether a name denotes a file in the same directory.
func local(name string) bool { return filepath.Base(name) == name && name != "." && name != ".." }

// identity describes the file at a path so that changes by other programs show; it is empty if no file exists.
func identity(fsys FileSystem, path string) (string, error) {
	info, err := fsys.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", nil
	case err != nil:
		return "", err
	}
	return fmt.Sprintf("%d bytes, %d", info.Size(), info.ModTime().UnixNano()), nil
}

// publishAll gives several files in one directory their names. After an error the directory is unchanged.
func (t *Transaction) publishAll() error {
	dir := filepath.Dir(t.members[0].Path)
	r := record{About: t.About}
	for _, p := range t.members {
		if filepath.Dir(p.Path) != dir || p.Keep != "" && filepath.Dir(p.Keep) != dir {
			return fmt.Errorf("%s and %s are not in one folder", t.members[0].Path, p.Path)
		}
		was, err := identity(t.fsys, p.Path)
		if err == nil && was != "" && !p.Overwrite {
			err = &fs.PathError{Op: "create", Path: p.Path, Err: fs.ErrExist}
		}
		if err == nil && p.Keep != "" {
			if _, e := t.fsys.Lstat(p.Keep); e == nil {
				err = &fs.PathError{Op: "create", Path: p.Keep, Err: fs.ErrExist}
			}
		}
		if err == nil {
			err = t.name(p)
		}
		if err != nil {
			return err
		}
		s := naming{From: filepath.Base(p.temporary), To: filepath.Base(p.Path), Was: was}
		if p.Keep != "" && was != "" {
			s.Keep = filepath.Base(p.Keep)
		}
		r.Steps = append(r.Steps, s)
	}
	// The names in the record must be on the disk before it is.
	if err := flush(t.fsys, dir); err != nil {
		return err
	}
	path := filepath.Join(dir, fmt.Sprintf(recordName, rand.Uint64()))
	lock, err := t.decide(path, r)
	if err != nil {
		return err
	}
	err = perform(t.fsys, dir, r)
	if err != nil {
		return errors.Join(err, t.revoke(path, r), lock.Close())
	}
	for _, p := range t.members {
		p.temporary = ""
	}
	// If the record stays, the next run finds it completed.
	_ = t.fsys.Remove(path)
	return lock.Close()
}

// decide writes the record and returns it open and therefore locked.
func (t *Transaction) decide(path string, r record) (File, error) {
	data, err := r.encode()
	if err != nil {
		return nil, err
	}
	file, err := t.fsys.Create(path)
	if err != nil {
		return nil, err
	}
	_, err = file.Write(data)
	if err == nil {
		err = file.Sync()
	}
	if err == nil && file.Temporary() == "" {
		err = file.Link(path)
	}
	if err == nil {
		err = flush(t.fsys, filepath.Dir(path))
	}
	if err != nil {
		file.Close()
		if e := remove(t.fsys, path); e != nil {
			err = errors.Join(err, e)
		}
		return nil, err
	}
	return file, nil
}

// perform carries out the remaining steps in order and flushes them. A file that another program has changed since the
// record was written is left alone, and its step fails.
//
// Unflushed changes may reach the disk in any order. So a name is removed only after its replacement is on disk: the
// additional name of an old file before that file is replaced, and the new name of a file before its temporary name is
// removed.
func perform(fsys FileSystem, dir string, r record) error {
	kept := false
	for _, s := range r.Steps {
		did, err := s.keep(fsys, dir)
		if err != nil {
			return err
		}
		kept = kept || did
	}
	if kept {
		if err := flush(fsys, dir); err != nil {
			return err
		}
	}
	for _, s := range r.Steps {
		if err := s.perform(fsys, dir); err != nil {
			return err
		}
	}
	if err := flush(fsys, dir); err != nil {
		return err
	}
	for _, s := range r.Steps {
		// If it stays, the next run removes it.
		_ = fsys.Remove(filepath.Join(dir, s.From))
	}
	return nil
}

// flush is SyncDir if the system supports it.
func flush(fsys FileSystem, dir string) error {
	if err := fsys.SyncDir(dir); err != nil && !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	return nil
}

// keep gives the file to be replaced its additional name, and reports whether that was necessary.
func (s naming) keep(fsys FileSystem, dir string) (bool, error) {
	if s.Keep == "" {
		return false, nil
	}
	to, keep := filepath.Join(dir, s.To), filepath.Join(dir, s.Keep)
	now, err := identity(fsys, to)
	if err != nil || now != s.Was {
		return false, err // already replaced, or changed, which perform detects
	}
	kept, err := identity(fsys, keep)
	switch {
	case err != nil:
		return false, err
	case kept == s.Was:
		return false, nil
	case kept != "":
		return false, &fs.PathError{Op: "create", Path: keep, Err: fs.ErrExist}
	}
	if err := fsys.Link(to, keep); err != nil {
		// The file system has no links.
		return true, fsys.Rename(to, keep)
	}
	return true, nil
}

// perform gives a new file its name, if it does not have it yet.
func (s naming) perform(fsys FileSystem, dir string) error {
	from, to := filepath.Join(dir, s.From), filepath.Join(dir, s.To)
	fresh, err := identity(fsys, from)
	if err != nil || fresh == "" {
		return err // done
	}
	now, err := identity(fsys, to)
	switch {
	case err != nil:
		return err
	case now == fresh:
		return nil // both are names of the new file
	case now == "" && s.Keep != "":
		// The old file was moved to its additional name.
		kept, err := identity(fsys, filepath.Join(dir, s.Keep))
		if err == nil && kept == s.Was {
			err = fsys.Rename(from, to)
		}
		return err
	case now != s.Was:
		return &fs.PathError{Op: "create", Path: to, Err: fs.ErrExist}
	case s.Was != "":
		return fsys.Rename(from, to)
	}
	err = fsys.Link(from, to)
	if err != nil && !errors.Is(err, fs.ErrExist) {
		// The file system has no links.
		return fsys.Rename(from, to)
	}
	return err
}

// revoke undoes the completed steps of a record that could not be carried out and removes it, unless a file was
// replaced. In that case the record stays, and the next run finishes it.
func (t *Transaction) revoke(path string, r record) error {
	dir := filepath.Dir(path)
	for _, s := range r.Steps {
		fresh, err := identity(t.fsys, filepath.Join(dir, s.From))
		if err != nil || fresh == "" && s.Was != "" {
			for _, p := range t.members {
				p.temporary = ""
			}
			return err
		}
	}
	for i, s := range r.Steps {
		from, to, keep := filepath.Join(dir, s.From), filepath.Join(dir, s.To), filepath.Join(dir, s.Keep)
		fresh, err := identity(t.fsys, from)
		if err != nil {
			return err
		}
		now, err := identity(t.fsys, to)
		switch {
		case err != nil:
			return err
		case s.Keep != "" && now == "":
			err = t.fsys.Rename(keep, to)
		case s.Keep != "":
			if kept, e := identity(t.fsys, keep); e == nil && kept == s.Was {
				err = t.fsys.Remove(keep)
			}
		case s.Was == "" && fresh == "":
			// Moved, because the file system has no links.
			if err = t.fsys.Rename(to, from); err == nil {
				t.members[i].temporary = from
			}
		case s.Was == "" && now == fresh:
			err = t.fsys.Remove(to)
		}
		if err != nil {
			return err
		}
	}
	// The names must be on the disk before the record goes.
	if err := flush(t.fsys, dir); err != nil {
		return err
	}
	return remove(t.fsys, path)
}

// Recover completes the committed transactions of killed processes in a directory, and removes their temporary files.
// Files of running processes stay. It returns the first error, but continues after it.
func Recover(fsys FileSystem, dir string) error {
	_, err := Complete(fsys, dir)
	return err
}

// Complete is Recover, and returns by their names what the files of the transactions that it has completed are about.
func Complete(fsys FileSystem, dir string) (completed map[string]string, err error) {
	completed = map[string]string{}
	names, err := fsys.List(dir, leftoverPattern)
	if err != nil {
		return completed, err
	}
	changed := false
	// Records first: they need files that would otherwise be removed.
	for _, extension := range []string{".commit", ".tmp"} {
		for _, name := range names {
			if filepath.Ext(name) != extension {
				continue
			}
			r, done, e := recoverOne(fsys, dir, name)
			changed = changed || done
			for _, s := range r.Steps {
				completed[s.To] = r.About
			}
			if err == nil {
				err = e
			}
		}
	}
	if changed {
		_ = fsys.SyncDir(dir)
	}
	return completed, err
}

// recoverOne completes a record, which it returns, or removes a temporary file, unless it belongs to a running process.
func recoverOne(fsys FileSystem, dir, name string) (completed record, done bool, err error) {
	path := filepath.Join(dir, name)
	lock, err := fsys.Claim(path)
	if err != nil {
		return record{}, false, nil
	}
	defer lock.Close()
	if filepath.Ext(name) == ".commit" {
		data, err := fsys.ReadFile(path)
		if err != nil {
			return record{}, false, err
		}
		if r, ok := decodeRecord(data); ok {
			err := perform(fsys, dir, r)
			if err != nil && !errors.Is(err, fs.ErrExist) {
				return record{}, false, err
			}
			if err == nil {
				completed = r
			}
		}
	}
	err = remove(fsys, path)
	return completed, err == nil, err
}

// remove removes a file if it exists.
func remove(fsys FileSystem, path string) error {
	err := fsys.Remove(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
