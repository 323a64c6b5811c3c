package kernel

// variances writes mean and variance of windows of the columns i+1 … i+k.
func variances(mean, variance []float32, col []uint16, col2 []uint32, k int, c *Counts) {
	s, s2 := sumUp(col[:k]), sumUp(col2[:k])
	for i := range mean {
		s += uint32(col[i+k]) - uint32(col[i])
		s2 += col2[i+k] - col2[i]
		n := uint64(c.pixels[i])
		mean[i] = float32(float64(s) / float64(n))
		variance[i] = float32(float64(n*uint64(s2)-uint64(s)*uint64(s)) / float64(n*n))
	}
}

func slideSquares(col []uint32, add, sub []uint8) {
	add, sub = add[:len(col)], sub[:len(col)]
	for i := range col {
		a, s := uint32(add[i]), uint32(sub[i])
		col[i] += a*a - s*s
	}
}

// meanVarianceRow writes mean and variance of windows of n pixels.
func meanVarianceRow(mean, variance []float32, sum []uint32, sum2 []uint64, n int) {
	variance, sum, sum2 = variance[:len(mean)], sum[:len(mean)], sum2[:len(mean)]
	pixels, squared := float64(n), float64(n*n)
	for i, s := range sum {
		s1 := uint64(s)
		mean[i] = float32(float64(s1) / pixels)
		variance[i] = float32(float64(uint64(n)*sum2[i]-s1*s1) / squared)
	}
}
