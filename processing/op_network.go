package processing

import (
	"context"
	"math"

	"blik/processing/network"
)

// Glints writes into Dst (U8) what the network says of each pixel: its logit in sixteenths plus Offset, 0…255, cut to
// 0…255. So what is more likely glare than not is above Offset. Red, Green and Blue (U8) are the picture as Luminance
// writes it. docs/network.md describes the method.
type Glints struct {
	Dst, Red, Green, Blue Plane
	Model                 *network.Model
	Offset                int
}

// Footprint implements Op.
func (o Glints) Footprint() Footprint {
	return Footprint{Rows: o.Model.Reach(), Align: o.Model.Grain()}
}

func (o Glints) run(ctx context.Context, e Executor) error { return e.Glints(ctx, o) }

func (o Glints) describe(a *arguments) Op {
	a.writes("destination", &o.Dst, u8)
	a.reads("red", &o.Red, u8)
	a.reads("green", &o.Green, u8)
	a.reads("blue", &o.Blue, u8)
	a.apart()
	if o.Model == nil {
		a.failf("no model given")
	}
	if o.Offset < 0 || o.Offset > math.MaxUint8 {
		a.failf("offset %d: must be between 0 and %d", o.Offset, math.MaxUint8)
	}
	return o
}
