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

// defaultScore is the decision function of adaptive mode: a ridge logistic regression over the candidates of rendered
// glare (sharp, soft, unclipped, tinted, large; blurred, halved, doubled, JPEG) on seven paintings, of clean paintings
// and of generated ones, each candidate weighted by the pixels that the right decision wins. The constants were chosen
// by leaving one painting out at a time. docs/detection.md tells more.
func defaultScore() linear {
	return linear{
		offset: -6.288,
		weights: [featureCount]float64{
			FeatureContrast:     1.815,
			FeaturePeakContrast: -7.344,
			FeatureDensity:      -7.588,
			FeatureWhite:        0.02417,
			FeatureElongation:   -0.5551,
			FeatureTexture:      -3.394,
			FeatureLeak:         -6.87,
			FeatureDarkest:      0.02507,
			FeatureStarlet:      0.06452,
			FeatureHeadroom:     12.4,
			FeatureBackground:   -16.32,
			FeatureCoreArea:     -0.1861,
			FeatureArea:         0.523,
			FeatureMeanLevel:    0.0161,
			FeatureSlope:        -0.04077,
			FeatureStray:        -85.16,
		},
	}
}
