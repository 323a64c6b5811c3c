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

// record lists the names that the files of a transaction are still to get. From the moment that it is on the disk, the
// transaction is decided: after a crash Recover does what is left of it.
type record struct {
	Steps []step `json:"steps"`
}

// step gives a file its name. All names are those of one directory.
type step struct {
	From string `json:"from"`
	To   string `json:"to"`
	// Was identifies the file that is replaced; empty if none existed.
	Was string `json:"was,omitempty"`
	// Keep is a further name for that file.
	Keep string `json:"keep,omitempty"`
}

// encode returns the content of a record: a sum, by which one that is not complete is known, and the steps.
func (r record) encode() ([]byte, error) {
	body, err := json.Marshal(r)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(body)
	return fmt.Appendf(nil, "%s\n%s\n", hex.EncodeToString(sum[:]), body), nil
}

// decodeRecord is the inverse of encode; ok is false for what is no complete record of names in one directory.
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

// local reports whether a name is one of a file in the same directory.
func local(name string) bool { return filepath.Base(name) == name && name != "." && name != ".." }

// identity describes the file at a path as far as another program's change shows: empty if none exists.
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

// publishAll gives several files in one directory their names. After an error the directory is as it was.
func (t *Transaction) publishAll() error {
	dir := filepath.Dir(t.parts[0].Path)
	var r record
	for _, p := range t.parts {
		if filepath.Dir(p.Path) != dir || p.Keep != "" && filepath.Dir(p.Keep) != dir {
			return fmt.Errorf("%s and %s are not in one folder", t.parts[0].Path, p.Path)
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
		s := step{From: filepath.Base(p.temporary), To: filepath.Base(p.Path), Was: was}
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
	for _, p := range t.parts {
		p.temporary = ""
	}
	// One that stays is found done by the next run.
	_ = t.fsys.Remove(path)
	return lock.Close()
}

// decide writes the record and returns it open, and so locked.
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
		if e := t.fsys.Remove(path); e != nil && !errors.Is(e, fs.ErrNotExist) {
			err = errors.Join(err, e)
		}
		return nil, err
	}
	return file, nil
}

// perform does what is left of the steps, in their order, and flushes it. A file that another program has changed since
// the record was written stays, and fails the step.
//
// The disk may do what was not flushed in any order. So a name is only taken away when what it was given for is on the
// disk: the further name of an old file before that is replaced, and the new name of a file before the temporary one
// goes.
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
		// One that stays is removed by the next run.
		_ = fsys.Remove(filepath.Join(dir, s.From))
	}
	return nil
}

// flush is SyncDir where the system has it.
func flush(fsys FileSystem, dir string) error {
	if err := fsys.SyncDir(dir); err != nil && !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	return nil
}

// keep gives the file that is to be replaced its further name, and reports whether it had to.
func (s step) keep(fsys FileSystem, dir string) (bool, error) {
	if s.Keep == "" {
		return false, nil
	}
	to, keep := filepath.Join(dir, s.To), filepath.Join(dir, s.Keep)
	now, err := identity(fsys, to)
	if err != nil || now != s.Was {
		return false, err // replaced already, or not what it was, which perform finds
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
func (s step) perform(fsys FileSystem, dir string) error {
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
		// The old file was moved to its further name.
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
	if err := fsys.Link(from, to); err != nil && !errors.Is(err, fs.ErrExist) {
		// The file system has no links.
		return fsys.Rename(from, to)
	} else if err != nil {
		return err
	}
	return nil
}

// revoke undoes what was done of a record that could not be carried out, as far as nothing was replaced, and takes it
// back. Where something was, the record stays, so that the next run finishes it.
func (t *Transaction) revoke(path string, r record) error {
	dir := filepath.Dir(path)
	for _, s := range r.Steps {
		fresh, err := identity(t.fsys, filepath.Join(dir, s.From))
		if err != nil || fresh == "" && s.Was != "" {
			for _, p := range t.parts {
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
			// Moved, where the file system has no links.
			if err = t.fsys.Rename(to, from); err == nil {
				t.parts[i].temporary = from
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
	if err := t.fsys.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Recover finishes in a directory what runs that were killed had decided, and removes the temporary files that they
// left. Files of runs that continue stay. It returns the first error, after which the rest is done all the same.
func Recover(fsys FileSystem, dir string) error {
	names, err := fsys.List(dir, leftoverPattern)
	if err != nil {
		return err
	}
	changed := false
	// Records first: they need the files that would else be removed.
	for _, extension := range []string{".commit", ".tmp"} {
		for _, name := range names {
			if filepath.Ext(name) != extension {
				continue
			}
			done, e := recoverOne(fsys, dir, name)
			changed = changed || done
			if err == nil {
				err = e
			}
		}
	}
	if changed {
		_ = fsys.SyncDir(dir)
	}
	return err
}

// recoverOne finishes a record or removes a temporary file, unless it belongs to a run that continues.
func recoverOne(fsys FileSystem, dir, name string) (done bool, err error) {
	path := filepath.Join(dir, name)
	lock, err := fsys.Claim(path)
	if err != nil {
		return false, nil
	}
	defer lock.Close()
	if filepath.Ext(name) == ".commit" {
		data, err := fsys.ReadFile(path)
		if err != nil {
			return false, err
		}
		if r, ok := decodeRecord(data); ok {
			err := perform(fsys, dir, r)
			if err != nil && !errors.Is(err, fs.ErrExist) {
				return false, err
			}
		}
	}
	err = fsys.Remove(path)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return err == nil, err
}
