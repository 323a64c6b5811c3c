package cpu

import (
	"context"
	"errors"

	"blik/processing"
)

var errPending = errors.New("cpu: not built yet")

func (b *Backend) MeanVariance(ctx context.Context, mean, variance, src processing.Plane, r int) error {
	return errPending
}
func (b *Backend) GuardRing(ctx context.Context, z, src processing.Plane, core, guard, outer int, noise float64) error {
	return errPending
}
func (b *Backend) Gaussian(ctx context.Context, dst, src processing.Plane, sigma float64) error {
	return errPending
}
func (b *Backend) Wavelet(ctx context.Context, dst, src processing.Plane, wave processing.Wavelet) error {
	return errPending
}
func (b *Backend) InverseWavelet(ctx context.Context, dst, src processing.Plane, wave processing.Wavelet) error {
	return errPending
}
func (b *Backend) Starlet(ctx context.Context, bands []processing.Plane, smooth, src processing.Plane) error {
	return errPending
}
func (b *Backend) NoiseTiles(ctx context.Context, src processing.Plane, tile int) ([]float64, error) {
	return nil, errPending
}
func (b *Backend) Moments(ctx context.Context, src processing.Plane) (processing.Moments, error) {
	return processing.Moments{}, errPending
}
