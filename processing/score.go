package processing

// linear is a linear decision function: offset + Σ weight·feature; a candidate is glare where it is at least 0.
type linear struct {
	offset  float64
	weights [featureCount]float64
}

func (l *linear) score(f *[featureCount]float64) float64 {
	s := l.offset
	for i, w := range l.weights {
		s += w * f[i]
	}
	return s
}

func defaultScore() linear {
	return linear{
		offset: -10.666,
		weights: [featureCount]float64{
			FeatureContrast:     21.739,
			FeatureDensity:      -9.499,
			FeatureWhite:        0.0328,
			FeatureElongation:   -0.528,
			FeatureTexture:      -6.341,
			FeatureLeak:         -5.469,
			FeatureDarkest:      0.0288,
			FeatureStarlet:      0.0983,
			FeaturePeakContrast: -9.519,
		},
	}
}
