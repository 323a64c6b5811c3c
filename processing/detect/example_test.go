package detect_test

import (
	"context"
	"fmt"

	"blik/processing"
	"blik/processing/cpu"
	"blik/processing/detect"
)

// Two glints on brown paint.
func ExampleDetect() {
	pic := &processing.Picture{Width: 96, Height: 64, Channels: 3, U8: make([]uint8, 96*64*3)}
	for i := range pic.U8 {
		pic.U8[i] = [3]uint8{112, 92, 70}[i%3]
	}
	for _, at := range [][2]int{{24, 20}, {25, 20}, {24, 21}, {25, 21}, {70, 40}, {71, 40}, {70, 41}} {
		first := (at[1]*pic.Width + at[0]) * 3
		copy(pic.U8[first:], []uint8{255, 255, 255})
	}

	found, err := detect.Detect(context.Background(), cpu.New(), pic, processing.DefaultParams(), detect.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, f := range found.Findings {
		fmt.Printf("%d: %d pixels around (%.1f, %.1f), level %d\n", f.ID, f.Area, f.X, f.Y, f.Peak)
	}
	fmt.Println("mask:", found.Mask.Area(), "pixels")
	// Output:
	// 1: 4 pixels around (25.0, 21.0), level 255
	// 2: 3 pixels around (70.8, 40.8), level 255
	// mask: 7 pixels
}
