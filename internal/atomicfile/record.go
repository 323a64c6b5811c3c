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
	if err := t.fsys.SyncDir(dir); err != nil && !errors.Is(err, errors.ErrUnsupported) {
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
	// The names must be on the disk before the record goes.
	_ = t.fsys.SyncDir(dir)
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
		if err = t.fsys.SyncDir(filepath.Dir(path)); errors.Is(err, errors.ErrUnsupported) {
			err = nil
		}
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

// perform does what is left of the steps, in their order. A file that another program changed since the record was
// written stays, and the new one is removed.
func perform(fsys FileSystem, dir string, r record) error {
	for _, s := range r.Steps {
		from, to := filepath.Join(dir, s.From), filepath.Join(dir, s.To)
		if _, err := fsys.Lstat(from); errors.Is(err, fs.ErrNotExist) {
			continue // done
		} else if err != nil {
			return err
		}
		if err := s.perform(fsys, from, to, filepath.Join(dir, s.Keep)); err != nil {
			return err
		}
	}
	return nil
}

func (s step) perform(fsys FileSystem, from, to, keep string) error {
	now, err := identity(fsys, to)
	if err != nil {
		return err
	}
	taken := &fs.PathError{Op: "create", Path: to, Err: fs.ErrExist}
	if s.Was == "" {
		if err := fsys.Link(from, to); err == nil {
			return fsys.Remove(from)
		}
		switch fresh, err := identity(fsys, from); {
		case err != nil:
			return err
		case now == "":
			// The file system has no links.
			return fsys.Rename(from, to)
		case now == fresh:
			// A run was stopped between giving the one name and taking the other.
			return fsys.Remove(from)
		}
		return taken
	}
	if now == "" && s.Keep != "" {
		// A run was stopped between moving the old file and putting the new one in its place.
		if kept, err := identity(fsys, keep); err == nil && kept == s.Was {
			return fsys.Rename(from, to)
		}
	}
	if now != s.Was {
		return taken
	}
	if s.Keep != "" {
		if err := fsys.Link(to, keep); err != nil && !errors.Is(err, fs.ErrExist) {
			// The file system has no links.
			if err := fsys.Rename(to, keep); err != nil {
				return err
			}
		}
	}
	return fsys.Rename(from, to)
}

// revoke undoes what was done of a record that could not be carried out, as far as nothing was replaced, and takes it
// back.
func (t *Transaction) revoke(path string, r record) error {
	dir := filepath.Dir(path)
	replaced := false
	for i, s := range r.Steps {
		from, to := filepath.Join(dir, s.From), filepath.Join(dir, s.To)
		if _, err := t.fsys.Lstat(from); !errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if s.Was != "" {
			replaced = true
			continue
		}
		if err := t.fsys.Rename(to, from); err == nil {
			t.parts[i].temporary = from
		}
	}
	if replaced {
		// Half of the old files are gone: the record stays, so that the next run finishes it.
		for _, p := range t.parts {
			p.temporary = ""
		}
		return nil
	}
	if err := t.fsys.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Recover finishes in a directory what runs that were killed had decided, and removes the temporary files that they
// left. Files of runs that go on stay. It returns the first error, after which the rest is done all the same.
func Recover(fsys FileSystem, dir string) error {
	names, err := fsys.List(dir, leftoverPattern)
	if err != nil {
		return err
	}
	changed := false
	// Records first: they need the files that would else be removed.
	for _, ending := range []string{".commit", ".tmp"} {
		for _, name := range names {
			if filepath.Ext(name) != ending {
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

// recoverOne finishes a record or removes a temporary file, unless it belongs to a run that goes on.
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
			// The names must be on the disk before the record goes.
			_ = fsys.SyncDir(dir)
		}
	}
	err = fsys.Remove(path)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return err == nil, err
}
