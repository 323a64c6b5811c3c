package processing

import "context"

// Class bits of a pixel in the plane that Contrast and Cores write.
const (
	// ClassWide: visibly brighter than the background.
	ClassWide uint8 = 1 << iota
	// ClassSeed: wide, and strong and bright enough to start a glint.
	ClassSeed
	// ClassCore: seed within a share of the strongest contrast around it.
	ClassCore
	// ClassGrow: wide and not drowned by a much stronger neighbour.
	ClassGrow
)

// ContrastRule holds the thresholds of Contrast. Luminances are in 1/65535 of white, linear light.
type ContrastRule struct {
	// Absolute: a wide pixel has d = Y − B > Absolute.
	Absolute uint16
	// Relative: … and d·65536 > Relative·B.
	Relative uint32
	// SeedAbsolute: a seed is wide and has d > SeedAbsolute, …
	SeedAbsolute uint16
	// SeedRelative: … d·65536 > SeedRelative·(65535 − B) (0: off) …
	SeedRelative uint32
	// SeedLevel: … and v ≥ SeedLevel.
	SeedLevel uint8
}

// CoreRule holds the shares of Cores in 1/65536.
type CoreRule struct {
	// Core: a core is a seed with d·65536 ≥ Core·M.
	Core uint32
	// Grow: growth is wide with d·65536 > Grow·M.
	Grow uint32
}

// Contrast writes the class bits Wide and Seed into Class (U8), all others 0, and into Seed (U16) the contrast
// d = max(Y − B, 0) of seeds, 0 elsewhere. Y and Background are U16, V is U8.
type Contrast struct {
	perPixel

	Class, Seed, Y, Background, V Plane
	Rule                          ContrastRule
}

func (o Contrast) run(ctx context.Context, e Executor) error { return e.Contrast(ctx, o) }

func (o Contrast) describe(a *arguments) Op {
	a.writes("class", &o.Class, u8)
	a.writes("seed", &o.Seed, u16)
	a.reads("luminance", &o.Y, u16)
	a.reads("background", &o.Background, u16)
	a.reads("level", &o.V, u8)
	a.apart()
	return o
}

// Cores adds the class bits Core and Grow to Class, given the dilated seed contrast Peak (U16).
type Cores struct {
	perPixel

	Class, Y, Background, Peak Plane
	Rule                       CoreRule
}

func (o Cores) run(ctx context.Context, e Executor) error { return e.Cores(ctx, o) }

func (o Cores) describe(a *arguments) Op {
	a.updates("class", &o.Class, u8)
	a.reads("luminance", &o.Y, u16)
	a.reads("background", &o.Background, u16)
	a.reads("peak", &o.Peak, u16)
	return o
}

// DifferenceThreshold writes 255 into Dst (U8) where Y − Background > Over (all U16) and V (U8) ≥ Level, else 0.
type DifferenceThreshold struct {
	perPixel

	Dst, Y, Background, V Plane
	Over                  uint16
	Level                 uint8
}

func (o DifferenceThreshold) run(ctx context.Context, e Executor) error {
	return e.DifferenceThreshold(ctx, o)
}

func (o DifferenceThreshold) describe(a *arguments) Op {
	a.writes("destination", &o.Dst, u8)
	a.reads("luminance", &o.Y, u16)
	a.reads("background", &o.Background, u16)
	a.reads("level", &o.V, u8)
	a.apart()
	return o
}
