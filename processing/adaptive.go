package processing

import (
	"slices"

	"blik/internal/message"
)

// adaptive returns p with everything that adaptive mode chooses set to what fits a picture of ordinary scale.
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

// measureNoise takes the lower quartile over tiles of the noise that their finest wavelet band shows, so that canvas
// and brush work, which fill that band in most tiles of a painting, do not inflate it. In 8-bit levels.
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

// chosen lists what adaptive mode measured and took, in the order in which a person asks for it.
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
		"scale": message.Of("suits glare of up to about 12 px radius; increase it by hand if larger glare is missed"),
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
