package processing

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

// Automatic returns p in adaptive mode, with the defaults of what only manual mode reads.
func (p Params) Automatic() Params {
	p.Mode = Adaptive
	return p.Resolved()
}
