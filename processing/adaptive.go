package processing

import (
	"slices"

	"blik/internal/message"
)

// adaptive returns p with every parameter of manual mode at its default.
func adaptive(p Params) Params {
	q := DefaultParams()
	for _, s := range Specs() {
		if s.Manual {
			// A default is within its range.
			_ = s.Set(&p, s.Get(q))
		}
	}
	return p
}

// noiseTile is the side of the tiles whose noise is measured, in pixels.
const noiseTile = 64

// measureNoise estimates the noise in 8-bit levels: the lower quartile over tiles of the estimate from their finest
// wavelet band. Canvas and brush work fill that band in most tiles of a painting, and the quartile keeps them out.
func (d *detector) measureNoise() error {
	if d.known != nil {
		d.noise = *d.known
		return nil
	}
	tiles, err := Evaluate(d.ctx, d.be, NoiseTiles{Src: d.v, Side: noiseTile})
	if err != nil || len(tiles) == 0 {
		return err
	}
	slices.Sort(tiles)
	d.noise = tiles[len(tiles)/4]
	return nil
}

// chosen lists the values that adaptive mode measured or set, in the order in which they are shown.
func (d *detector) chosen() []Chosen {
	list := []Chosen{
		{
			ID: "noise", Name: message.Of("Noise"), Value: d.noise,
			Why: message.Of("standard deviation in levels, from the finest wavelet band of the quietest quarter of " +
				"the picture"),
		},
	}
	radii := d.backgroundRadii()
	reasons := map[string]message.Message{
		"scale": message.Of("suits glare of up to about 12 px radius; the network also looks for larger glare"),
		"window": message.Of("the smallest window with enough paint between findings; windows of up to %d px are "+
			"used elsewhere", 2*radii[len(radii)-1]+1),
		"visible":  message.Of("what the eye sees as glare on a painting, far above the noise (%.1f levels)", d.noise),
		"relative": message.Of("glare must rise more over bright paint than over dark paint"),
		"contrast": message.Of("weaker spots cannot be distinguished from paint"),
		"level":    message.Of("the reflection of a lamp is never darker"),
		"core":     message.Of("separates a finding from a weaker neighbour"),
		"score":    message.Of("the threshold that the linear score was fitted for; the sensitivity shifts it"),
	}
	for _, s := range Specs() {
		why, ok := reasons[s.ID]
		if !ok {
			continue
		}
		list = append(list, Chosen{ID: s.ID, Name: s.Name, Unit: s.Unit, Value: s.Get(d.p), Why: why})
	}
	return list
}
