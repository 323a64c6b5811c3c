package report

import (
	"blik/app/document"
	"blik/app/imagefile"
	"blik/internal/message"
	"blik/processing"
)

// Extent counts the pixels that a correction may change, each once, and those that it did.
type Extent struct {
	// Marked are the pixels of the mask that were corrected, Halo those at most as far from them as the parameter halo
	// says, and Veil those beyond.
	Marked int64 `json:"marked"`
	Halo   int64 `json:"halo"`
	Veil   int64 `json:"veil"`
	// Changed is the number of those of them that changed.
	Changed int64 `json:"changed"`
}

// Free returns the number of pixels that were free to change.
func (e Extent) Free() int64 { return e.Marked + e.Halo + e.Veil }

// Message says what the pixels are that were free to change.
func (e Extent) Message() message.Message {
	return message.Of("marked %d + halo %d + veil %d = %d free to change", e.Marked, e.Halo, e.Veil, e.Free())
}

// Extent counts the pixels of a correction, also before it is saved.
func (c Correction) Extent() (Extent, error) {
	places, err := c.places()
	if err != nil {
		return Extent{}, err
	}
	return extentOf(places, c.Saved), nil
}

// extentOf adds up places. JPEG blocks that changed beside them are left out. saved is nil before saving.
func extentOf(places []Place, saved *imagefile.Saved) Extent {
	e := Extent{}
	for _, p := range places {
		e.Marked, e.Halo, e.Veil = e.Marked+int64(p.Area), e.Halo+int64(p.Halo-p.Veil), e.Veil+int64(p.Veil)
		e.Changed += int64(p.Changed)
	}
	if saved != nil {
		if e.Changed = saved.PixelsChanged; saved.Proof != nil {
			e.Changed -= saved.Proof.Beside
		}
	}
	return e
}

// beyond counts the pixels of runs that no pixel of a mask in the same runs is near: at most so far away.
func beyond(runs []processing.Run, m *processing.Mask, far int) (n int) {
	var marked []processing.Run
	for _, r := range runs {
		for x := r.X0; x < r.X1; x++ {
			if m.Pix[r.Y*m.Width+x] >= processing.MaskLevel {
				marked = processing.AppendRun(marked, processing.Run{Y: r.Y, X0: x, X1: x + 1})
			}
		}
	}
	near := document.NewVicinity(marked)
	for _, r := range runs {
		for x := r.X0; x < r.X1; x++ {
			if !near.Within(x, r.Y, far) {
				n++
			}
		}
	}
	return n
}
