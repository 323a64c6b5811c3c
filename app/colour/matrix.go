package colour

import "math"

// matrix works on columns: rows first.
type matrix [3][3]float64

func identity() matrix { return matrix{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}} }

func (m matrix) apply(v [3]float64) (r [3]float64) {
	for i := range r {
		r[i] = m[i][0]*v[0] + m[i][1]*v[1] + m[i][2]*v[2]
	}
	return r
}

func (m matrix) times(o matrix) (r matrix) {
	for i := range r {
		for j := range r[i] {
			r[i][j] = m[i][0]*o[0][j] + m[i][1]*o[1][j] + m[i][2]*o[2][j]
		}
	}
	return r
}

// white returns D50, the white of the profile connection space (ICC.1:2022, 7.2.16).
func white() [3]float64 { return [3]float64{0.9642, 1, 0.8249} }

// toScreen converts XYZ relative to D50 to linear sRGB: the inverse of the primaries of IEC 61966-2-1 adapted from D65
// to D50 by the Bradford matrix (Lindbloom, "RGB/XYZ Matrices").
func toScreen() matrix {
	return matrix{
		{3.1338561, -1.6168667, -0.4906146},
		{-0.9787684, 1.9161415, 0.0334540},
		{0.0719453, -0.2289914, 1.4052427},
	}
}

// labEdge is where f, the function of X/Xn, Y/Yn and Z/Zn in CIE 1976 L*a*b*, changes from a linear segment to the cube
// root.
const labEdge = 6. / 29

func labF(t float64) float64 {
	if t > labEdge*labEdge*labEdge {
		return math.Cbrt(t)
	}
	return t/(3*labEdge*labEdge) + 4./29
}

// labT is the inverse of labF.
func labT(f float64) float64 {
	if f > labEdge {
		return f * f * f
	}
	return 3 * labEdge * labEdge * (f - 4./29)
}

// fromLab returns XYZ relative to D50 of CIE L*a*b*.
func fromLab(lab [3]float64) (xyz [3]float64) {
	fy := (lab[0] + 16) / 116
	w := white()
	for i, f := range [3]float64{fy + lab[1]/500, fy, fy - lab[2]/200} {
		xyz[i] = w[i] * labT(f)
	}
	return xyz
}

// unit limits x to 0…1; NaN becomes 0.
func unit(x float64) float64 {
	if !(x > 0) {
		return 0
	}
	return math.Min(x, 1)
}
