package colour

import (
	"fmt"
	"math"

	"blik/internal/message"
	"blik/processing"
)

// Profile defines the colours of a picture's samples. It is immutable.
type Profile struct {
	// Name is the description in the profile, in English if available; empty if there is none.
	Name string
	// Channels is 1 (grey), 3 (RGB) or 4 (CMYK).
	Channels int
	// Exact means that the colours on the screen are those of the profile, within the gamut of the screen. Otherwise
	// Reason explains why they are approximate, as a clause that can follow a colon.
	Exact  bool
	Reason message.Message

	// linear decodes each channel to linear light, and toScreen converts that to linear sRGB. uniform means that the
	// curves are the same.
	linear   [3]curve
	uniform  bool
	toScreen matrix
	// tables, if not nil, replaces them.
	tables *lut
}

// curve maps 0…1 to 0…1; other arguments are allowed.
type curve func(x float64) float64

// plain is a profile of the screen's own colours with another curve.
func plain(channels int, c curve) *Profile {
	return &Profile{Channels: channels, Exact: true, linear: [3]curve{c, c, c}, uniform: true, toScreen: identity()}
}

// FromGamma returns the profile of grey or RGB samples that are decoded by a power, with the primaries of sRGB. PNG's
// gAMA chunk holds the inverse of gamma.
func FromGamma(channels int, gamma float64) (*Profile, error) {
	if channels != 1 && channels != 3 {
		return nil, fmt.Errorf("a gamma for %d channels: 1 or 3 expected", channels)
	}
	if !(gamma >= 0.1 && gamma <= 10) {
		return nil, fmt.Errorf("a gamma of %g: 0.1 to 10 expected", gamma)
	}
	return standard(plain(channels, power(gamma))), nil
}

func power(gamma float64) curve {
	return func(x float64) float64 { return math.Pow(unit(x), gamma) }
}

// FromPicture returns the profile of a picture without one: its transfer curve with the primaries of sRGB. CMYK is
// approximate.
func FromPicture(pic *processing.Picture) *Profile {
	encoding := processing.Picture{Transfer: pic.Transfer, Curve: pic.Curve}
	p := plain(pic.Channels, encoding.Linear)
	if pic.Channels == 4 {
		p.Exact = false
		p.Reason = message.Of("the picture is CMYK without a profile")
	}
	return p
}

// For returns the profile for a picture with the given channels: p if it fits; for grey with an RGB profile, its
// neutral colours; otherwise an approximation with the reason.
func (p *Profile) For(channels int) *Profile {
	if channels == p.Channels {
		return p
	}
	if channels == 1 && p.Channels == 3 {
		grey := plain(1, p.neutral())
		grey.Name, grey.Exact, grey.Reason = p.Name, p.Exact, p.Reason
		return grey
	}
	c := curve(processing.TransferSRGB.Linear)
	if p.Channels == 1 && channels == 3 {
		c = p.linear[0]
	}
	other := plain(channels, c)
	other.Name, other.Exact = p.Name, false
	have, want := model(p.Channels), model(channels)
	other.Reason = message.Of("the profile is for %s, the picture is %s", have, want)
	return other
}

// model returns the name of the colour model with n channels.
func model(channels int) message.Message {
	switch channels {
	case 1:
		return message.Of("grey")
	case 3:
		return message.Of("RGB")
	default:
		return message.Of("CMYK")
	}
}

// curveSteps is the number of steps of Curve: the pure powers are then exact to 1/65535.
const curveSteps = 4096

// Curve returns the transfer curve for processing.Picture.Curve: that of green, of grey, or of the neutral colours of
// an RGB profile made of tables. It is nil for the curve of sRGB within half an 8-bit level, for CMYK, and if the
// profile has no increasing curve.
func (p *Profile) Curve() []float32 {
	if p.Channels == 4 {
		return nil
	}
	c := p.neutral()
	if likeSRGB(c) {
		return nil
	}
	values := make([]float32, curveSteps+1)
	highest := float32(0)
	for i := range values {
		highest = max(highest, float32(unit(c(float64(i)/curveSteps))))
		values[i] = highest
	}
	if values[0] == highest {
		return nil
	}
	return values
}

// ToSRGB returns the matrix for processing.Picture.ToSRGB. It is nil for primaries within a thousandth of those of
// sRGB, for grey and CMYK, and for a profile with tables.
func (p *Profile) ToSRGB() *[9]float64 {
	if p.Channels != 3 || p.tables != nil {
		return nil
	}
	var m [9]float64
	farthest, neutral := 0.0, identity()
	for i, row := range p.toScreen {
		for k, v := range row {
			m[3*i+k] = v
			farthest = math.Max(farthest, math.Abs(v-neutral[i][k]))
		}
	}
	// A profile with implausible primaries is used for the screen, but not for detection.
	const least, most = 1e-3, 100
	if !(farthest > least && farthest < most) {
		return nil
	}
	return &m
}

// neutral returns the linear light of equal samples.
func (p *Profile) neutral() curve {
	if p.tables == nil {
		return p.linear[1]
	}
	t := p.tables
	paper := t.xyz([4]float64{1, 1, 1})[1]
	if !(paper > 0) {
		paper = 1
	}
	return func(x float64) float64 { return unit(t.xyz([4]float64{x, x, x})[1] / paper) }
}

// likeSRGB reports whether c is the curve of sRGB within half an 8-bit level.
func likeSRGB(c curve) bool {
	for i := range 256 {
		if math.Abs(processing.TransferSRGB.Encode(unit(c(float64(i)/255)))*255-float64(i)) > 0.5 {
			return false
		}
	}
	return true
}

// standard replaces a profile that approximates sRGB by exact sRGB, so that its pictures are shown as they are stored:
// all colours within one 8-bit level, neutral ones within half.
func standard(p *Profile) *Profile {
	if p.tables != nil {
		return p
	}
	for _, c := range p.linear {
		if !likeSRGB(c) {
			return p
		}
	}
	const steps = 15
	for i := range (steps + 1) * (steps + 1) * (steps + 1) {
		j, k := i/(steps+1)%(steps+1), i/(steps+1)/(steps+1)
		v := [3]float64{float64(i%(steps+1)) / steps, float64(j) / steps, float64(k) / steps}
		for k, s := range p.encoded(v) {
			if math.Abs(s-v[k])*255 > 1 {
				return p
			}
		}
	}
	s := *p
	srgb := curve(processing.TransferSRGB.Linear)
	s.linear, s.uniform, s.toScreen = [3]curve{srgb, srgb, srgb}, true, identity()
	return &s
}

// encoded returns the sRGB, 0…1, of a colour with samples in 0…1, exactly but slowly.
func (p *Profile) encoded(v [3]float64) [3]float64 {
	for k := range v {
		v[k] = p.linear[k](v[k])
	}
	return encode(p.toScreen.apply(v))
}

// encode clips linear sRGB and encodes it.
func encode(v [3]float64) [3]float64 {
	for k := range v {
		v[k] = processing.TransferSRGB.Encode(unit(v[k]))
	}
	return v
}
