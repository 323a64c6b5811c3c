package correct_test

import (
	"context"
	"fmt"

	"blik/processing"
	"blik/processing/correct"
	"blik/processing/cpu"
)

// Four clipped pixels on a ramp of grey.
func ExampleCorrect() {
	pic := &processing.Picture{Width: 64, Height: 64, Channels: 1, U8: make([]uint8, 64*64)}
	for i := range pic.U8 {
		pic.U8[i] = 60 + uint8(i%pic.Width)
	}
	mask := processing.NewMask(pic.Width, pic.Height)
	for _, i := range []int{20*64 + 30, 20*64 + 31, 21*64 + 30, 21*64 + 31} {
		pic.U8[i], mask.Pix[i] = 255, 255
	}

	p := processing.DefaultParams()
	c, err := correct.Correct(context.Background(), cpu.New(), pic, mask, p, correct.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("before:", pic.U8[20*64+28:20*64+34])
	for _, patch := range c.Patches {
		patch.Apply(pic)
	}
	fmt.Println("after: ", pic.U8[20*64+28:20*64+34])
	// Output:
	// before: [88 89 255 255 92 93]
	// after:  [88 89 90 91 92 93]
}
