package testpic

import "blik/processing/network"

// Network returns a network whose answers are known. Its logit of glare is (32 + 8·z − 44)/8 for a darkest channel
// that lies z deviations above its surroundings; what is much redder than blue counts as painted light.
func Network() *network.Model {
	const hidden, unit, shift = 4, 16, 4
	shifts := []uint8{shift, shift, shift, shift}
	first := network.Layer{From: []int{network.Input}, Kind: network.Conv1, In: network.Inputs, Out: hidden,
		Dilation: 1, Resolution: 1, Weights: make([]int8, hidden*network.Inputs), Bias: make([]int32, hidden),
		Shift: shifts}
	// The darkest channel against its surroundings, and red, blue and the darkest channel over the mean lightness.
	for channel, plane := range []int{3, 4, 6, 7} {
		first.Weights[channel*network.Inputs+plane] = unit
	}
	last := network.Layer{From: []int{0}, Kind: network.Conv1, In: hidden, Out: network.Outputs, Dilation: 1,
		Resolution: 1, Weights: make([]int8, network.Outputs*hidden), Shift: shifts,
		Bias: []int32{-44 * 2 * unit, -20 * 2 * unit, -100 * unit, -100 * unit}}
	last.Weights[0] = 2 * unit
	last.Weights[hidden+1], last.Weights[hidden+2] = 2*unit, -2*unit
	return &network.Model{Layers: []network.Layer{first, last}, Checksum: [32]byte{1}}
}
