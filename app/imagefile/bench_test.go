package imagefile

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"blik/processing"
)

// BenchmarkSaveMaster saves an uncompressed TIFF of 600 MB, 100 MP of 16-bit RGB, with 2,000 changed places of about
// 100 pixels. For comparison it copies the file with the system, without and with flushing it to disk as Save does.
//
//	go test -run '^$' -bench SaveMaster -benchtime 5x ./app/imagefile
func BenchmarkSaveMaster(b *testing.B) {
	dir := b.TempDir()
	f := tiffScan(b, dir, "a.tif", 10000, 10000)
	var patches []processing.Patch
	for i := range 2000 {
		x, y := 11+i%50*199, 13+i/50*247
		p := processing.Patch{Spot: i + 1}
		for dy := range 10 {
			p.Runs = append(p.Runs, processing.Run{Y: y + dy, X0: x, X1: x + 10})
			for k := range 30 {
				p.U16 = append(p.U16, f.Picture.U16[3*((y+dy)*10000+x)+k]^0x100)
			}
		}
		patches = append(patches, p)
	}
	target := filepath.Join(dir, "b.tif")
	run := func(name string, do func() error) {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(f.Size)
			for b.Loop() {
				b.StopTimer()
				_ = os.Remove(target)
				b.StartTimer()
				if err := do(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	run("cp", func() error { return exec.Command("cp", f.Path, target).Run() })
	run("cp and fsync", func() error {
		if err := exec.Command("cp", f.Path, target).Run(); err != nil {
			return err
		}
		copied, err := os.OpenFile(target, os.O_RDWR, 0)
		if err != nil {
			return err
		}
		defer copied.Close()
		return copied.Sync()
	})
	run("Save without proof and sums", func() error {
		_, err := Save(b.Context(), f, target, patches, SaveOptions{SkipProof: true})
		return err
	})
	run("Save", func() error {
		_, err := Save(b.Context(), f, target, patches, SaveOptions{})
		return err
	})
}
