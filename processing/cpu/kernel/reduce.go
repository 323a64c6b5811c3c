package kernel

func Histogram(bins []uint32, src, exclude []uint8) {
	if exclude == nil {
		// In a run of equal values each increment waits for the one before, so four tables take turns.
		var more [4][1 << 8]uint32
		eight := words(src)
		for _, v := range eight {
			more[0][v&0xff]++
			more[1][v>>8&0xff]++
			more[2][v>>16&0xff]++
			more[3][v>>24&0xff]++
			more[0][v>>32&0xff]++
			more[1][v>>40&0xff]++
			more[2][v>>48&0xff]++
			more[3][v>>56]++
		}
		for i := range bins {
			bins[i] += more[0][i] + more[1][i] + more[2][i] + more[3][i]
		}
		for _, v := range src[8*len(eight):] {
			bins[v]++
		}
		return
	}
	for i, out := range exclude[:len(src)] {
		if out == 0 {
			bins[src[i]]++
		}
	}
}
