// Package score measures how well a glare mask agrees with the truth.
//
// The figures are those of `blik score`: pixel precision and recall, strict and with a tolerance, and the shares of
// whole glints that were found, and of findings that are real.
package score

import (
	"blik/internal/span"
	"blik/processing"
)

// Metrics compares one predicted mask with the truth. Shares lie in 0…1. If there is nothing to find, recall is 1, and
// the precision of an empty prediction is 1; otherwise an empty prediction has precision 0.
type Metrics struct {
	// P, R and F1 are precision, recall and their harmonic mean over pixels.
	P  float64 `json:"P"`
	R  float64 `json:"R"`
	F1 float64 `json:"F1"`
	// PTol, RTol and F1Tol count a pixel as right if a pixel of the other mask lies within the tolerance.
	PTol  float64 `json:"P1"`
	RTol  float64 `json:"R1"`
	F1Tol float64 `json:"F1t"`
	// ObjR is the share of true components that the prediction touches.
	ObjR float64 `json:"objR"`
	// ObjP is the share of predicted components that touch the truth dilated by the tolerance.
	ObjP float64 `json:"objP"`
	// FPppm counts predicted pixels outside the dilated truth, per million pixels of the picture.
	FPppm float64 `json:"FPppm"`
	// TruthObjects and PredObjects count the components (8-connected).
	TruthObjects int `json:"gt_objects"`
	PredObjects  int `json:"pred_objects"`
}

// Compare scores pred against truth; a pixel is glare if it is at least processing.MaskLevel. tol ≥ 0 is the tolerance
// in pixels, a square of side 2·tol+1. A prediction of another size than the truth counts as empty.
func Compare(pred, truth *processing.Mask, tol int) Metrics {
	w, h := truth.Width, truth.Height
	if pred.Width != w || pred.Height != h {
		pred = processing.NewMask(w, h)
	}
	wideTruth, widePred := dilate(truth, tol), dilate(pred, tol)
	var nPred, nTruth, both, predNear, truthNear int
	for i, t := range truth.Pix {
		p := pred.Pix[i] >= processing.MaskLevel
		if p {
			nPred++
			if wideTruth[i] {
				predNear++
			}
		}
		if t >= processing.MaskLevel {
			nTruth++
			if p {
				both++
			}
			if widePred[i] {
				truthNear++
			}
		}
	}

	var m Metrics
	var foundTruth, realPred int
	m.TruthObjects, foundTruth = objects(truth, func(i int) bool { return pred.Pix[i] >= processing.MaskLevel })
	m.PredObjects, realPred = objects(pred, func(i int) bool { return wideTruth[i] })

	none := 0.0 // the precision of an empty prediction
	if nTruth == 0 {
		none = 1
	}
	m.P, m.R = ratio(both, nPred, none), ratio(both, nTruth, 1)
	m.F1 = harmonic(m.P, m.R)
	m.PTol, m.RTol = ratio(predNear, nPred, none), ratio(truthNear, nTruth, 1)
	m.F1Tol = harmonic(m.PTol, m.RTol)
	m.ObjR, m.ObjP = ratio(foundTruth, m.TruthObjects, 1), ratio(realPred, m.PredObjects, none)
	m.FPppm = 1e6 * ratio(nPred-predNear, w*h, 0)
	return m
}

// FalseAlarms scores the mask of a picture without glare: marked pixels per million, and their components.
func FalseAlarms(pred *processing.Mask) (ppm float64, count int) {
	count, _ = objects(pred, func(int) bool { return false })
	return 1e6 * ratio(pred.Area(), pred.Width*pred.Height, 0), count
}

// Mean averages the shares and FPppm over pictures with equal weights, and adds up the object counts. The mean of none
// is zero.
func Mean(all []Metrics) Metrics {
	var m Metrics
	if len(all) == 0 {
		return m
	}
	for _, a := range all {
		m.P += a.P
		m.R += a.R
		m.F1 += a.F1
		m.PTol += a.PTol
		m.RTol += a.RTol
		m.F1Tol += a.F1Tol
		m.ObjR += a.ObjR
		m.ObjP += a.ObjP
		m.FPppm += a.FPppm
		m.TruthObjects += a.TruthObjects
		m.PredObjects += a.PredObjects
	}
	n := float64(len(all))
	for _, v := range []*float64{&m.P, &m.R, &m.F1, &m.PTol, &m.RTol, &m.F1Tol, &m.ObjR, &m.ObjP, &m.FPppm} {
		*v /= n
	}
	return m
}

func ratio(a, b int, empty float64) float64 {
	if b == 0 {
		return empty
	}
	return float64(a) / float64(b)
}

func harmonic(a, b float64) float64 {
	if a+b == 0 {
		return 0
	}
	return 2 * a * b / (a + b)
}

// dilate reports for each pixel whether a glare pixel lies in the square of side 2r+1 around it: along rows first, then
// along columns. It keeps the last glare pixel seen, looking r ahead, so that the time does not depend on r.
func dilate(m *processing.Mask, r int) []bool {
	w, h := m.Width, m.Height
	r = max(r, 0)
	rows := make([]bool, w*h)
	for y := range h {
		src, dst := m.Pix[y*w:(y+1)*w], rows[y*w:(y+1)*w]
		last := -r - 1
		for x := range min(r, w) {
			if src[x] >= processing.MaskLevel {
				last = x
			}
		}
		for x := range dst {
			if x+r < w && src[x+r] >= processing.MaskLevel {
				last = x + r
			}
			dst[x] = last >= x-r
		}
	}
	if r == 0 {
		return rows
	}
	out := make([]bool, w*h)
	last := make([]int, w)
	for x := range last {
		last[x] = -r - 1
	}
	see := func(y int) {
		for x, set := range rows[y*w : (y+1)*w] {
			if set {
				last[x] = y
			}
		}
	}
	for y := range min(r, h) {
		see(y)
	}
	for y := range h {
		if y+r < h {
			see(y + r)
		}
		for x, dst := 0, out[y*w:(y+1)*w]; x < w; x++ {
			dst[x] = last[x] >= y-r
		}
	}
	return out
}

// objects counts the 8-connected components of m, and those with a pixel for which hit is true.
func objects(m *processing.Mask, hit func(i int) bool) (count, hits int) {
	spans := span.Append(nil, m.Pix, m.Width, 0, m.Height, processing.MaskLevel)
	isHit := make([]bool, span.Connect(spans, span.Eight))
	for _, s := range spans {
		for x := s.X0; x < s.X1 && !isHit[s.Label]; x++ {
			isHit[s.Label] = hit(int(s.Y)*m.Width + int(x))
		}
	}
	for _, is := range isHit {
		if is {
			hits++
		}
	}
	return len(isHit), hits
}
