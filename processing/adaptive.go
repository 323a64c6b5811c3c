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
			ID: "white", Name: message.Of("White level"), Value: d.white,
			Why: message.Of("only one pixel in a thousand outside the glare is brighter (levels 0 to 255): glare is judged against it"),
		},
		{
			ID: "noise", Name: message.Of("Noise"), Value: d.noise,
			Why: message.Of("standard deviation in levels, from the finest wavelet band of the quietest quarter of the picture"),
		},
	}
	radii := d.backgroundRadii()
	reasons := map[string]message.Message{
		"scale":    message.Of("fits glints of up to about 12 px radius; set it higher by hand where larger ones are missed"),
		"window":   message.Of("the smallest window that still holds enough paint between glints; larger ones, up to %d px, are used where it does not", 2*radii[len(radii)-1]+1),
		"visible":  message.Of("what the eye sees as glare on a painting, far above the noise (%.1f levels)", d.noise),
		"relative": message.Of("bright paint must be exceeded by more than dark paint"),
		"contrast": message.Of("weaker spots could not be told from paint"),
		"level":    message.Of("a mirror image of a lamp is never darker"),
		"core":     message.Of("separates a glint from a weaker one beside it"),
		"score":    message.Of("the boundary that the linear score was fitted for; the sensitivity moves it"),
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
