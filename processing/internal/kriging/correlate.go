package kriging

import (
	"math"

	"blik/internal/simd"
)

// Correlate writes into dst, for every offset (x, y) with x in 0 … reachX and y in −reachY … reachY, in reading order,
// the sum of the products of all pairs of pixels at that offset. z holds the pixels in rows of w. room is overwritten;
// with less than Room values, only plain loops run.
func Correlate(level simd.Level, dst []int64, z []int32, w, reachX, reachY int, room []int16) {
	most := int32(0)
	for _, v := range z {
		most = max(most, v, -v)
	}
	// Vectors hold 16-bit numbers and compare four offsets at a time.
	if level >= simd.AVX2 && most <= math.MaxInt16 && reachX >= lags-1 && len(room) >= Room(len(z)/w, w, reachX) {
		correlateVectors(dst, z, w, reachX, reachY, most, room)
		return
	}
	h := len(z) / w
	for dy := -reachY; dy <= reachY; dy++ {
		for dx := range reachX + 1 {
			var sum int64
			for y := max(0, -dy); y < min(h, h-dy) && dx < w; y++ {
				p, q := z[y*w:][:w-dx], z[(y+dy)*w+dx:][:w-dx]
				for i, v := range p {
					sum += int64(v) * int64(q[i])
				}
			}
			dst[(dy+reachY)*(reachX+1)+dx] = sum
		}
	}
}

// lags is the number of offsets that a vector kernel compares at a time, and vector the number of pixels.
const lags, vector = 4, 16

// Room returns how many 16-bit numbers Correlate needs for h rows of w pixels. Each row is followed by as many zeros as
// offsets reach, the last one by another vector.
func Room(h, w, reachX int) int { return h*(w+reachX) + reachX + 2*vector }
