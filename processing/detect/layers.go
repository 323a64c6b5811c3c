package detect

import (
	"context"
	"errors"
	"fmt"
	"image"
	"math"
	"slices"

	"blik/internal/message"

	"blik/processing"
)

// Layer is one of the planes of detection that can be shown to the user.
type Layer uint8

// The layers, in the order of detection.
const (
	LayerLuminance Layer = iota
	LayerLevel
	LayerBackground
	LayerContrast
	LayerStarlet
	LayerNetwork
	LayerScore
	layerCount
)

// LayerSpec describes a layer.
type LayerSpec struct {
	Layer Layer
	// ID is a short name: lower case.
	ID         string
	Name, Help message.Message
	// Unit is empty if the values have none.
	Unit message.Message
	// Low and High are the ends of the colour scale; values may lie beyond them.
	Low, High float64
	// Decimals is how many decimals of a value to show.
	Decimals int
	// Signed: positive values speak for glare, negative ones for paint.
	Signed bool
	// Whole: the values depend on the whole picture, so that a part takes as long as all of it.
	Whole bool
	// Sparse: only pixels of candidates have a value.
	Sparse bool
	// A sample s of a LayerMap is the value offset + step·s.
	offset, step float64
}

// Value returns the value of a sample of a LayerMap.
func (s *LayerSpec) Value(sample uint16) float64 { return s.offset + float64(s.step*float64(sample)) }

// Sample is the inverse of Value: the nearest sample. Those of sparse layers begin at 1.
func (s *LayerSpec) Sample(v float64) uint16 {
	least := 0.0
	if s.Sparse {
		least = 1
	}
	return uint16(min(max(math.Round((v-s.offset)/s.step), least), math.MaxUint16))
}

// Layers returns the layers in their order.
func Layers() []LayerSpec {
	percent, levels := message.Of("% of white"), message.Of("levels")
	return []LayerSpec{
		{
			Layer: LayerLuminance, ID: "luminance", Name: message.Of("Luminance"), Unit: percent, High: 100,
			Decimals: 1,
			Help:     message.Of("Light of each pixel, linear: half as much light is half the value."),
			step:     100. / whiteLight,
		}, {
			Layer: LayerLevel, ID: "level", Name: message.Of("Level"), Unit: levels, High: 255,
			Help: message.Of("Mean of brightness and darkest channel, as on the screen. White glare is high, bright " +
				"colours are lower."),
			step: 1,
		}, {
			Layer: LayerBackground, ID: "background", Name: message.Of("Background"), Unit: percent, High: 100,
			Decimals: 1,
			Help: message.Of("The light expected without glare: the mean of the surroundings, excluding " +
				"everything that may be glare."),
			step: 100. / whiteLight,
		}, {
			Layer: LayerContrast, ID: "contrast", Name: message.Of("Contrast"), Unit: percent, High: 50, Decimals: 1,
			Help: message.Of("Luminance minus background. The classical search starts where it is high."),
			step: 200. / whiteLight, offset: -100,
		}, {
			Layer: LayerStarlet, ID: "wavelet", Name: message.Of("Wavelet band"), Unit: levels, High: 60, Decimals: 1,
			Help: message.Of("Second starlet band of the level: what is a few pixels wide and brighter than its " +
				"surroundings."),
			step: 1. / 256,
		}, {
			Layer: LayerNetwork, ID: "network", Name: message.Of("Network"), Unit: message.Of("logit"), Low: -8,
			High: 8, Decimals: 1, Signed: true,
			Help: message.Of("The network's verdict on each pixel: above 0, glare is more likely than paint."),
			step: 1. / 16, offset: -8,
		}, {
			Layer: LayerScore, ID: "score", Name: message.Of("Score"), Unit: message.Of("steps of the sensitivity"),
			Low: -6, High: 6, Decimals: 1, Signed: true, Whole: true, Sparse: true,
			Help: message.Of("The score of every spot that the network considered. Spots at or above the " +
				"threshold are glare."),
			step: 1. / 512, offset: -32,
		},
	}
}

// Threshold is a value at which detection decides.
type Threshold struct {
	Name  message.Message
	Value float64
}

// Thresholds returns the values of a layer at which detection with parameters p decides, in the layer's unit.
func (s *LayerSpec) Thresholds(p processing.Params) []Threshold {
	p = p.Resolved()
	of := func(id string) Threshold {
		spec, _ := processing.SpecByID(id)
		return Threshold{spec.Name, spec.Get(p)}
	}
	var all []Threshold
	switch s.Layer {
	case LayerLevel:
		all = append(all, of("level"))
	case LayerContrast:
		all = append(all, of("visible"), of("contrast"))
	case LayerScore:
		return append(all, Threshold{message.Of("Sensitivity"), -p.Sensitivity})
	}
	// Rules that are off decide nothing.
	return slices.DeleteFunc(all, func(t Threshold) bool { return t.Value <= 0 })
}

// LayerMap holds the samples of a layer in a rectangle of a picture.
type LayerMap struct {
	Spec LayerSpec
	// Rect is the rectangle, in pixels of the picture.
	Rect image.Rectangle
	// Pix holds its samples in rows without padding: Spec.Value is their value. In a sparse layer 0 means no value.
	Pix []uint16
}

// At returns the value at a pixel of the picture; ok is false if there is none.
func (m *LayerMap) At(x, y int) (v float64, ok bool) {
	if !image.Pt(x, y).In(m.Rect) {
		return 0, false
	}
	s := m.Pix[(y-m.Rect.Min.Y)*m.Rect.Dx()+x-m.Rect.Min.X]
	return m.Spec.Value(s), s != 0 || !m.Spec.Sparse
}

// Histogram counts the values in n bins between Low and High; those beyond count in the outermost bins.
func (m *LayerMap) Histogram(n int) []uint64 {
	bins := make([]uint64, n)
	scale := float64(n) / (m.Spec.High - m.Spec.Low)
	// A table, because there are far fewer values of a sample than pixels.
	var bin [1 << 16]uint16
	for s := range bin {
		at := math.Floor(float64((m.Spec.Value(uint16(s)) - m.Spec.Low) * scale))
		bin[s] = uint16(min(max(at, 0), float64(n-1)))
	}
	for _, s := range m.Pix {
		if s != 0 || !m.Spec.Sparse {
			bins[bin[s]]++
		}
	}
	return bins
}

// ErrOutside is the error of Inspect for a rectangle outside the picture.
var ErrOutside = errors.New("the rectangle lies outside the picture")

// inspectClassic computes a layer of the classical detector with the same parameters.
//
// The values in a part of the picture are those of the whole, with one exception: background and contrast depend on
// spots that are excluded from the mean, and a spot that extends farther than layerReach may be cut off.
func inspectClassic(
	ctx context.Context, be processing.Backend, pic *processing.Picture, p processing.Params, o LayerOptions,
) (*LayerMap, error) {
	if err := valid(pic, p); err != nil {
		return nil, err
	}
	m, err := NewLayerMap(pic, o.Layer, o.Rect)
	if err != nil {
		return nil, err
	}
	p = p.Resolved()
	s := newPlanes(ctx, be, o.Progress)
	defer s.release()
	part := m.Rect.Inset(-layerReach(p, o.Layer)).Intersect(image.Rect(0, 0, pic.Width, pic.Height))
	if part.Size() != image.Pt(pic.Width, pic.Height) {
		pic = pic.Part(part.Min.X, part.Min.Y, part.Dx(), part.Dy())
	}
	l, err := s.light(pic)
	if err != nil {
		return nil, err
	}
	value, err := s.layer(l, p, o.Layer)
	if err != nil {
		return nil, err
	}
	return m, m.fill(ctx, part, value)
}

// fill writes the samples, given those of a part of the picture around the map by their indexes.
func (m *LayerMap) fill(ctx context.Context, part image.Rectangle, value func(i int) uint16) error {
	for y := range m.Rect.Dy() {
		if err := ctx.Err(); err != nil {
			return err
		}
		row := m.Pix[y*m.Rect.Dx():][:m.Rect.Dx()]
		from := (y+m.Rect.Min.Y-part.Min.Y)*part.Dx() + m.Rect.Min.X - part.Min.X
		for x := range row {
			row[x] = value(from + x)
		}
	}
	return nil
}

// NewLayerMap returns an empty map of a layer in a part of the picture. The error is ErrOutside for a part outside it.
func NewLayerMap(pic *processing.Picture, l Layer, part image.Rectangle) (*LayerMap, error) {
	if l >= layerCount {
		return nil, fmt.Errorf("there is no layer %d", l)
	}
	m := &LayerMap{Spec: Layers()[l], Rect: part.Intersect(image.Rect(0, 0, pic.Width, pic.Height))}
	if m.Rect.Empty() {
		return nil, ErrOutside
	}
	m.Pix = make([]uint16, m.Rect.Dx()*m.Rect.Dy())
	return m, nil
}

// layerReach returns how far around a pixel the values of a layer depend on the picture.
func layerReach(p processing.Params, l Layer) int {
	switch l {
	case LayerBackground, LayerContrast:
		return searchReach(p, 3)
	case LayerStarlet:
		return processing.StarletBand{}.Footprint().Rows
	}
	return 0
}

// layer computes a layer of the classical detector and returns a function for the sample at an index of the planes.
func (s *planes) layer(l light, p processing.Params, of Layer) (value func(i int) uint16, err error) {
	switch of {
	case LayerLuminance:
		return s.samples(l.y)
	case LayerLevel:
		return s.samples(l.v)
	case LayerBackground:
		return s.background(l, p)
	case LayerContrast:
		b, err := s.background(l, p)
		if err != nil {
			return nil, err
		}
		y, err := s.samples(l.y)
		return func(i int) uint16 { return uint16((int(y(i)) - int(b(i)) + whiteLight) / 2) }, err
	case LayerStarlet:
		w, h := l.v.Size()
		band, err := s.alloc(processing.U16, w, h)
		if err != nil {
			return nil, err
		}
		if err := s.do(processing.StarletBand{Dst: band, Src: l.v}); err != nil {
			return nil, err
		}
		return s.samples(band)
	}
	return nil, fmt.Errorf("layer %q is not one of the classical detector", Layers()[of].ID)
}

// samples returns a function for the sample of an integer plane at an index.
func (s *planes) samples(p processing.Plane) (func(i int) uint16, error) {
	host, err := s.be.Host(s.ctx, p)
	if err != nil {
		return nil, err
	}
	if host.U8 != nil {
		return func(i int) uint16 { return uint16(host.U8[i]) }, nil
	}
	return func(i int) uint16 { return host.U16[i] }, nil
}

// background computes the background against which the third pass measures, the last one of the search.
func (s *planes) background(l light, p processing.Params) (func(i int) uint16, error) {
	c, err := s.search(l, p, 2)
	if err != nil {
		return nil, err
	}
	defer c.release()
	w, h := l.y.Size()
	b, err := s.alloc(processing.U16, w, h)
	if err != nil {
		return nil, err
	}
	if err := s.stage(stageBackground(), func() error {
		return s.do(processing.Background{Dst: b, Y: l.y, Exclude: c.marks, Radii: backgroundRadii(p)})
	}); err != nil {
		return nil, err
	}
	return s.samples(b)
}

// LevelHistogram counts the pixels of each level of LayerLevel, 0…255, in the whole picture and in the region; inside
// is nil without a region.
func LevelHistogram(
	ctx context.Context, be processing.Backend, pic *processing.Picture, region *processing.Region,
) (all, inside []uint64, err error) {
	if err := pic.Validate(); err != nil {
		return nil, nil, err
	}
	if region != nil {
		if err := region.Validate(pic.Width, pic.Height); err != nil {
			return nil, nil, err
		}
	}
	s := newPlanes(ctx, be, nil)
	defer s.release()
	l, err := s.light(pic)
	if err != nil {
		return nil, nil, err
	}
	if all, err = processing.Evaluate(ctx, be, processing.Histogram{Src: l.v}); err != nil || region == nil {
		return all, nil, err
	}
	outside, err := s.alloc(processing.U8, pic.Width, pic.Height)
	if err != nil {
		return nil, nil, err
	}
	pix := make([]uint8, pic.Width*pic.Height)
	for i := range pix {
		pix[i] = 255
	}
	for row := range pic.Height {
		for _, run := range region.Spans(row, pic.Width) {
			clear(pix[row*pic.Width+run.X0 : row*pic.Width+run.X1])
		}
	}
	if err := be.Upload(ctx, outside, processing.Samples{U8: pix}); err != nil {
		return nil, nil, err
	}
	inside, err = processing.Evaluate(ctx, be, processing.Histogram{Src: l.v, Exclude: outside})
	return all, inside, err
}
