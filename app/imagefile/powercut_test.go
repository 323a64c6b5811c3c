package imagefile

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"testing"

	"blik/internal/atomicfile"
	"blik/internal/test/powercut"
)

// TestPowerCutWhileSaving simulates a power cut between any two calls while picture, report and mask are saved over
// older ones. No file may be half written, and after the next run all three must be old or all new. The same must hold
// if each call fails in turn.
func TestPowerCutWhileSaving(t *testing.T) {
	f := tiffScan(t, t.TempDir(), "a.tif", 30, 20)
	old := map[string]string{"/d/b.tif": "old picture", "/d/b.json": "old report", "/d/b_mask.png": "old mask"}
	most := 64
	if testing.Short() {
		most = 8
	}
	save := func(d *powercut.Disk) error {
		out := begin(d)
		defer out.Close()
		o := WriteOptions{Overwrite: true}
		_, err := out.AddPicture(t.Context(), f, "/d/b.tif", dot(f.Picture, 5, 5), SaveOptions{Overwrite: true})
		if err == nil {
			err = out.Add(t.Context(), "/d/b.json", o, func(w io.Writer) error {
				_, err := io.WriteString(w, "new report")
				return err
			})
		}
		if err == nil {
			err = out.AddMask(t.Context(), "/d/b_mask.png", o, MaskOf(30, 20, dot(f.Picture, 5, 5)))
		}
		if err == nil {
			err = out.Commit(t.Context(), "/d/b.tif")
		}
		return err
	}
	var fresh map[string]string
	whole := func(d *powercut.Disk) error {
		for name, content := range d.Content() {
			if was, ok := old[name]; ok && content != was && content != fresh[name] {
				return fmt.Errorf("%s holds %d bytes that are neither the old ones nor the new ones", name, len(content))
			}
		}
		if err := atomicfile.Recover(d, "/d"); err != nil {
			return err
		}
		if c := d.Content(); !maps.Equal(c, old) && !maps.Equal(c, fresh) {
			return fmt.Errorf("after the next run: %q", slices.Sorted(maps.Keys(c)))
		}
		return nil
	}
	for _, named := range []bool{false, true} {
		disk := func() *powercut.Disk {
			d := powercut.New(old)
			d.Named = named
			return d
		}
		d := disk()
		if err := save(d); err != nil {
			t.Fatal(err)
		}
		fresh = d.Content()
		r, err := powercut.Run(disk, save, most, whole)
		if err != nil {
			t.Errorf("named %t: %v", named, err)
		}
		failed, err := powercut.Fail(disk, save, func(d *powercut.Disk, _ error) error { return whole(d) })
		if err != nil {
			t.Errorf("named %t: %v", named, err)
		}
		t.Logf("named %t: %d power cuts, %d states of the disk; %d failing calls", named, r.Calls+1, r.States, failed.States)
	}
}
