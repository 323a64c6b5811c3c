package imagefile_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"blik/app/imagefile"
	"blik/processing"
)

// A copy of a picture with one pixel changed, and the proof that nothing else changed.
func ExampleOutputs() {
	ctx := context.Background()
	folder, err := os.MkdirTemp("", "example")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(folder)
	scan, result := filepath.Join(folder, "scan.png"), filepath.Join(folder, "scan_corrected.png")
	grey := &processing.Picture{Width: 8, Height: 8, Channels: 1, U8: make([]uint8, 64)}
	if err := imagefile.WritePNG(ctx, scan, imagefile.WriteOptions{}, grey); err != nil {
		fmt.Println(err)
		return
	}

	file, err := imagefile.Read(ctx, scan, imagefile.DefaultLimits())
	if err != nil {
		fmt.Println(err)
		return
	}
	patch := processing.Patch{Spot: 1, Runs: []processing.Run{{Y: 3, X0: 5, X1: 6}}, U8: []uint8{200}}
	out := imagefile.Begin()
	defer out.Close()
	saved, err := out.AddPicture(ctx, file, result, []processing.Patch{patch}, imagefile.SaveOptions{})
	if err == nil {
		err = out.Commit(ctx, result)
	}
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(saved.Format, "with", saved.PixelsChanged, "changed pixel, proven:", saved.Proof.Holds())
	// Output: PNG with 1 changed pixel, proven: true
}
