package document

import (
	"fmt"
	"testing"

	"blik/internal/test/testpic"
	"blik/processing"
	"blik/processing/correct"
)

var sizes = []struct{ w, h int }{{5300, 3533}, {12000, 8400}}

// BenchmarkStroke moves a brush by 40 pixels per event and counts the findings after each, like the status bar.
func BenchmarkStroke(b *testing.B) {
	for _, size := range sizes {
		for _, brush := range []Brush{{Radius: 20}, {Radius: 300}, {Radius: 2000}, {Radius: 300, Soft: 0.5},
			{Radius: 2000, Soft: 0.5}} {
			for _, count := range []bool{false, true} {
				name := fmt.Sprintf("%d×%d/radius=%g/soft=%g/count=%v", size.w, size.h, brush.Radius, brush.Soft, count)
				b.Run(name, func(b *testing.B) {
					d := newDocument(b, size.w, size.h)
					if _, err := d.LoadMask(testpic.Specks(size.w, size.h)); err != nil {
						b.Fatal(err)
					}
					d.Stats()
					x := 0.0
					d.BeginStroke(brush, x, 1000)
					for b.Loop() {
						if x += 40; x > float64(size.w) {
							b.StopTimer()
							d.EndStroke()
							d.Undo()
							d.Stats()
							x = 0
							d.BeginStroke(brush, x, 1000)
							b.StartTimer()
						}
						d.StrokeTo(x, 1000+x/7)
						if count {
							d.Stats()
						}
					}
				})
			}
		}
	}
}

func BenchmarkWhole(b *testing.B) {
	for _, size := range sizes {
		d := newDocument(b, size.w, size.h)
		m := testpic.Specks(size.w, size.h)
		b.Run(fmt.Sprintf("%d×%d/load+undo", size.w, size.h), func(b *testing.B) {
			for b.Loop() {
				if _, err := d.LoadMask(m); err != nil {
					b.Fatal(err)
				}
				d.Undo()
			}
		})
		if _, err := d.LoadMask(m); err != nil {
			b.Fatal(err)
		}
		b.Run(fmt.Sprintf("%d×%d/snapshot", size.w, size.h), func(b *testing.B) {
			for b.Loop() {
				d.Snapshot()
			}
		})
		b.Run(fmt.Sprintf("%d×%d/all-labels", size.w, size.h), func(b *testing.B) {
			for b.Loop() {
				for i := range d.tiles.count() {
					d.spots.invalidate(i)
				}
				d.Stats()
			}
		})
		b.Run(fmt.Sprintf("%d×%d/list", size.w, size.h), func(b *testing.B) {
			for b.Loop() {
				d.listed.generation--
				d.Spots()
			}
		})
		removeAndUndo(b, d, size.w, size.h)
	}
}

// BenchmarkCorrections merges the patches of a whole picture, erases one of its spots, and undoes both.
func BenchmarkCorrections(b *testing.B) {
	for _, size := range sizes {
		d := newDocument(b, size.w, size.h)
		if _, err := d.LoadMask(testpic.Specks(size.w, size.h)); err != nil {
			b.Fatal(err)
		}
		c := &correct.Correction{}
		var spots []processing.Spot
		for _, s := range d.Spots() {
			runs := d.SpotRuns(d.list.first[s.ID-1].X, d.list.first[s.ID-1].Y)
			spots = append(spots, processing.Spot{ID: s.ID, Runs: runs})
			c.Patches = append(c.Patches, processing.Patch{Spot: s.ID, Runs: runs, U8: make([]uint8, s.Area)})
		}
		b.Run(fmt.Sprintf("%d×%d/apply+undo", size.w, size.h), func(b *testing.B) {
			for b.Loop() {
				if err := d.ApplyCorrection(c, spots, processing.DefaultParams()); err != nil {
					b.Fatal(err)
				}
				d.Undo()
			}
		})
		d.Redo()
		removeAndUndo(b, d, size.w, size.h)
	}
}

// removeAndUndo measures the removal of a spot in the middle of the list.
func removeAndUndo(b *testing.B, d *Document, w, h int) {
	b.Run(fmt.Sprintf("%d×%d/remove+undo", w, h), func(b *testing.B) {
		for b.Loop() {
			s := d.Spots()[100]
			d.RemoveSpot(s.Left+1, s.Top+1)
			d.Undo()
		}
	})
}
