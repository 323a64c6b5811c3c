package processing

import "blik/internal/message"

// Resolved returns p with every parameter that adaptive mode chooses at its default.
func (p Params) Resolved() Params {
	if p.Mode != Adaptive {
		return p
	}
	q := DefaultParams()
	for _, s := range Specs() {
		if s.Manual {
			// A default is within its range.
			_ = s.Set(&p, s.Get(q))
		}
	}
	return p
}

// Chosen lists the values that the classical detector measured or, in adaptive mode, chose, in the order in which they
// are shown.
func (c *Classic) Chosen() []Chosen {
	list := []Chosen{
		{
			ID: "noise", Name: message.Of("Noise"), Value: c.Noise,
			Why: message.Of("standard deviation in levels, from the finest wavelet band of the quietest quarter of " +
				"the picture"),
		},
	}
	radii := (&detector{p: c.Params}).backgroundRadii()
	reasons := map[string]message.Message{
		"scale": message.Of("suits glare of up to about 12 px radius"),
		"window": message.Of("the smallest window with enough paint between findings; windows of up to %d px are "+
			"used elsewhere", 2*radii[len(radii)-1]+1),
		"visible":  message.Of("what the eye sees as glare on a painting, far above the noise (%.1f levels)", c.Noise),
		"relative": message.Of("glare must rise more over bright paint than over dark paint"),
		"contrast": message.Of("weaker spots cannot be distinguished from paint"),
		"level":    message.Of("the reflection of a lamp is never darker"),
		"core":     message.Of("separates a finding from a weaker neighbour"),
	}
	for _, s := range Specs() {
		if why, ok := reasons[s.ID]; ok {
			list = append(list, Chosen{ID: s.ID, Name: s.Name, Unit: s.Unit, Value: s.Get(c.Params), Why: why})
		}
	}
	return list
}
