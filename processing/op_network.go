package processing

import (
	"context"
	"math"

	"blik/processing/network"
)

// Glints writes the network's logit of each pixel into Dst (U8): in sixteenths, plus Offset (0…255), clamped to 0…255.
// Pixels above Offset are more likely glare than not. Red, Green and Blue (U8) are the picture as Luminance writes it.
// docs/network.md describes the method.
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

// GlintChannels returns the activations of the network's last hidden layer at the pixels of Index (row·width + column),
// Model.Hidden() of them for each: the network's description of a pixel's surroundings. Red, Green and Blue (U8) are
// the picture as Luminance writes it.
type GlintChannels struct {
	wholePicture

	Red, Green, Blue Plane
	Model            *network.Model
	Index            []uint32
	Out              *[]uint8
}

// Into implements Query.
func (o GlintChannels) Into(out *[]uint8) Op { o.Out = out; return o }

func (o GlintChannels) run(ctx context.Context, e Executor) (err error) {
	*o.Out, err = e.GlintChannels(ctx, o)
	return err
}

func (o GlintChannels) describe(a *arguments) Op {
	a.reads("red", &o.Red, u8)
	a.reads("green", &o.Green, u8)
	a.reads("blue", &o.Blue, u8)
	switch {
	case o.Model == nil:
		a.failf("no model given")
	case o.Model.Hidden() == 0:
		a.failf("the model has no hidden layer")
	}
	a.indices(o.Index)
	a.result(o.Out != nil)
	return o
}
