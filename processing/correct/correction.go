package correct

import "blik/processing"

// Correction is the result of Correct.
type Correction struct {
	// Patches are in the order of the spots.
	Patches []processing.Patch
	// Timings are the times of the stages.
	Timings []processing.StageTime
	// Device is the name of the backend that ran it.
	Device string
}

// Hide gives hidden pixels of the patches the samples that they have in pic.
func (c *Correction) Hide(pic *processing.Picture) {
	if pic.Hidden == nil {
		return
	}
	for i := range c.Patches {
		p, at := &c.Patches[i], 0
		for _, r := range p.Runs {
			for x := r.X0; x < r.X1; x, at = x+1, at+pic.Channels {
				from := r.Y*pic.Width + x
				if !pic.Hidden.Pixels[from] {
					continue
				}
				from *= pic.Channels
				p.Samples().Copy(at, pic.Samples(), from, pic.Channels)
			}
		}
	}
}

// Options are the options of Correct besides the parameters.
type Options struct {
	// Spots limits the work to these pieces of the mask, each with its own method; nil is all of Spots(mask).
	Spots []processing.Spot
	// Memory is the most memory to use, in bytes; 0 is no limit. A correction that would take more is refused at the
	// start.
	Memory int64
	// Progress may be nil.
	Progress processing.Progress
}
