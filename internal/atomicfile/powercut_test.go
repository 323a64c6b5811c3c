package atomicfile_test

import (
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"

	"blik/internal/atomicfile"
	"blik/internal/test/powercut"
)

// set is a transaction of some files.
type set struct {
	name string
	old  map[string]string
	// fresh are the new contents, in the order of Add.
	fresh     [][2]string
	overwrite bool
	keep      string
}

func sets() []set {
	files := [][2]string{{"/d/a.tif", "new picture"}, {"/d/a.json", "new account"}, {"/d/a.html", "new page"}, {"/d/m.png", "new mask"}}
	old := map[string]string{"/d/a.tif": "old picture", "/d/a.json": "old account", "/d/a.html": "old page", "/d/m.png": "old mask"}
	return []set{
		{"one, new", map[string]string{}, files[:1], false, ""},
		{"one over another", map[string]string{"/d/a.tif": "old picture"}, files[:1], true, ""},
		{"one, the old one kept", map[string]string{"/d/a.tif": "old picture"}, files[:1], true, "/d/a_original.tif"},
		{"four, new", map[string]string{"/d/other": "other"}, files, false, ""},
		{"four over others", old, files, true, ""},
		{"four over some", map[string]string{"/d/a.json": "old account"}, files, true, ""},
	}
}

func (s set) write(t *testing.T) func(d *powercut.Disk) error {
	return func(d *powercut.Disk) error {
		tx := atomicfile.Begin(d)
		defer tx.Close()
		for i, f := range s.fresh {
			target := atomicfile.Target{FS: d, Path: f[0], Overwrite: s.overwrite}
			if i == 0 {
				target.Keep = s.keep
			}
			err := tx.Add(t.Context(), target, func(w atomicfile.File) error {
				// In several parts, so that some of them may be lost.
				for part := range strings.SplitSeq(f[1], " ") {
					if _, err := w.Write([]byte(part + " ")); err != nil {
						return err
					}
				}
				return nil
			}, nil)
			if err != nil {
				return err
			}
		}
		return tx.Commit(t.Context())
	}
}

// wholly returns an error unless the disk holds the old files or the new ones, and nothing else.
func (s set) wholly(content map[string]string) error {
	fresh := maps.Clone(s.old)
	for _, f := range s.fresh {
		fresh[f[0]] = f[1] + " "
	}
	if s.keep != "" {
		fresh[s.keep] = s.old[s.fresh[0][0]]
	}
	if !maps.Equal(content, s.old) && !maps.Equal(content, fresh) {
		return fmt.Errorf("neither the old files nor the new ones: %q", content)
	}
	return nil
}

// TestPowerCuts cuts the power between any two calls, in every way of writing, and again while the next run recovers.
// No file may be half written, and after the recovery all files must be old or all new.
func TestPowerCuts(t *testing.T) {
	most := 256
	if testing.Short() {
		most = 32
	}
	var cuts, states int
	for _, s := range sets() {
		for _, kind := range []struct{ Named, NoLinks bool }{{}, {Named: true}, {true, true}} {
			if kind.NoLinks && s.keep != "" && testing.Short() {
				continue
			}
			disk := func() *powercut.Disk {
				d := powercut.New(s.old)
				d.Named, d.NoLinks = kind.Named, kind.NoLinks
				return d
			}
			recover := func(d *powercut.Disk) error { return atomicfile.Recover(d, "/d") }
			settled := func(d *powercut.Disk) error {
				if err := recover(d); err != nil {
					return fmt.Errorf("the next run: %w", err)
				}
				return s.wholly(d.Content())
			}
			inner := 0
			r, err := powercut.Run(disk, s.write(t), most, func(d *powercut.Disk) error {
				if err := s.unbroken(d.Content()); err != nil {
					return err
				}
				inner++
				if inner%16 == 0 {
					// The power is cut again while the next run recovers.
					again, err := powercut.Run(func() *powercut.Disk { return d.Crash(1, nil)[0] }, recover, 8, settled)
					states += again.States
					if err != nil {
						return err
					}
				}
				return settled(d)
			})
			cuts, states = cuts+r.Calls+1, states+r.States
			if err != nil {
				t.Errorf("%s, %+v: %v", s.name, kind, err)
			}
		}
	}
	t.Logf("%d power cuts, %d states of the disk", cuts, states)
}

// unbroken returns an error if a file has neither its old nor its new content.
func (s set) unbroken(content map[string]string) error {
	for _, f := range s.fresh {
		got, exists := content[f[0]]
		was, old := s.old[f[0]]
		if exists && got != f[1]+" " && (!old || got != was) {
			return fmt.Errorf("%s holds %q", f[0], got)
		}
		if !exists && old && s.keep == "" {
			return fmt.Errorf("%s is gone", f[0])
		}
	}
	return nil
}

// Each call fails in turn: all files are old or all new, the error says which, and there are no leftovers.
func TestFailingCalls(t *testing.T) {
	var calls int
	for _, s := range sets() {
		for _, named := range []bool{false, true} {
			disk := func() *powercut.Disk {
				d := powercut.New(s.old)
				d.Named = named
				return d
			}
			r, err := powercut.Fail(disk, s.write(t), func(d *powercut.Disk, err error) error {
				content := d.Content()
				if e := s.unbroken(content); e != nil {
					return e
				}
				if e := atomicfile.Recover(d, "/d"); e != nil {
					return e
				}
				if err == nil && !strings.Contains(d.Content()[s.fresh[0][0]], s.fresh[0][1]) {
					return errors.New("no error, and no new file")
				}
				return s.wholly(d.Content())
			})
			calls += r.States
			if err != nil {
				t.Errorf("%s, named %t: %v", s.name, named, err)
			}
		}
	}
	t.Logf("%d failing calls", calls)
}

// Writing does not change other temporary files, whatever they contain.
func TestRecoverLeavesOthers(t *testing.T) {
	foreign := map[string]string{"/d/.blik-x.commit": "not a record", "/d/b.tmp": "b", "/d/.blik-notes": "notes", "/d/a.json": "a"}
	d := powercut.New(foreign)
	if err := atomicfile.Recover(d, "/d"); err != nil {
		t.Fatal(err)
	}
	delete(foreign, "/d/.blik-x.commit")
	if !maps.Equal(d.Content(), foreign) {
		t.Errorf("left %q", d.Content())
	}
}

// TestReplace cuts the power while settings or a journal are replaced: the file must have its old or its new content.
func TestReplace(t *testing.T) {
	for _, named := range []bool{false, true} {
		disk := func() *powercut.Disk {
			d := powercut.New(map[string]string{"/d/settings.json": "old"})
			d.Named = named
			return d
		}
		replace := func(d *powercut.Disk) error { return atomicfile.Replace(d, "/d/settings.json", []byte("new"), 0o600) }
		whole := func(d *powercut.Disk) error {
			if err := atomicfile.Recover(d, "/d"); err != nil {
				return err
			}
			if c := d.Content(); len(c) != 1 || c["/d/settings.json"] != "old" && c["/d/settings.json"] != "new" {
				return fmt.Errorf("%q", c)
			}
			return nil
		}
		r, err := powercut.Run(disk, replace, 256, whole)
		if err != nil {
			t.Errorf("named %t: %v", named, err)
		}
		if _, err := powercut.Fail(disk, replace, func(d *powercut.Disk, _ error) error { return whole(d) }); err != nil {
			t.Errorf("named %t: %v", named, err)
		}
		t.Logf("named %t: %d power cuts, %d states", named, r.Calls+1, r.States)
	}
}
