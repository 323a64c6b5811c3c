package processing

import "context"

// Histogram counts the values of Src (U8), 256 of them, where Exclude (U8) is 0; Exclude may be nil.
type Histogram struct {
	wholePicture

	Src, Exclude Plane
	Out          *[]uint64
}

func (o Histogram) Into(out *[]uint64) Op { o.Out = out; return o }

func (o Histogram) run(ctx context.Context, e Executor) error {
	return answer(ctx, o, o.Out, e.Histogram)
}

func (o Histogram) describe(a *arguments) Op {
	a.reads("source", &o.Src, u8)
	if o.Exclude != nil {
		a.reads("exclusion", &o.Exclude, u8)
	}
	a.result(o.Out != nil)
	return o
}

// NoiseTiles returns the noise of each tile of Side × Side pixels, Side ≥ 2, of Src (U8), in grey levels: median
// |HH1| / 0.6745 of the Haar transform (Donoho & Johnstone 1994). Tiles of less than a quarter of that area are left
// out.
type NoiseTiles struct {
	wholePicture

	Src  Plane
	Side int
	Out  *[]float64
}

func (o NoiseTiles) Into(out *[]float64) Op { o.Out = out; return o }

func (o NoiseTiles) run(ctx context.Context, e Executor) error {
	return answer(ctx, o, o.Out, e.NoiseTiles)
}

func (o NoiseTiles) describe(a *arguments) Op {
	a.reads("source", &o.Src, u8)
	if o.Side < 2 {
		a.failf("tiles of %d pixels: at least 2", o.Side)
	}
	a.result(o.Out != nil)
	return o
}
