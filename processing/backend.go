package processing

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"blik/internal/message"
)

// Kind is the sample type of a plane.
type Kind uint8

// The sample types.
const (
	U8 Kind = iota
	U16
	F32
)

func (k Kind) String() string {
	if k > F32 {
		return fmt.Sprintf("Kind(%d)", uint8(k))
	}
	return [...]string{"U8", "U16", "F32"}[k]
}

// Bytes is the size of a sample.
func (k Kind) Bytes() int { return [...]int{1, 2, 4}[k] }

// Plane is a raster of one sample type in the memory of the Backend that made it.
type Plane interface {
	// Size returns width and height in pixels.
	Size() (w, h int)
	Kind() Kind
	// Release gives the memory back to its Backend; the plane must not be used afterwards. Releasing twice is harmless.
	Release()
}

// Handle holds the owner, the size and the state of a plane or of components. Every backend embeds one in its own
// types.
type Handle struct {
	owner    Backend
	w, h     int
	released bool
}

// NewHandle returns the handle of a plane or of components of w × h pixels that belong to owner.
func NewHandle(owner Backend, w, h int) Handle { return Handle{owner: owner, w: w, h: h} }

// Owner is the backend that made it.
func (h *Handle) Owner() Backend { return h.owner }

// Size returns width and height in pixels.
func (h *Handle) Size() (width, height int) { return h.w, h.h }

// Released reports whether MarkReleased was called.
func (h *Handle) Released() bool { return h.released }

// MarkReleased marks it as released and reports whether this was the first call.
func (h *Handle) MarkReleased() (first bool) {
	first = !h.released
	h.released = true
	return first
}

// Samples are the samples of a plane in host memory, in rows without padding, or those of a picture or a patch. Only
// the slice of their kind is set.
type Samples struct {
	U8  []uint8
	U16 []uint16
	F32 []float32
}

// NewSamples returns n samples of a depth: 8, 16 or 32 bits.
func NewSamples(depth, n int) (s Samples) {
	switch depth {
	case 8:
		s.U8 = make([]uint8, n)
	case 16:
		s.U16 = make([]uint16, n)
	default:
		s.F32 = make([]float32, n)
	}
	return s
}

// Copy copies n samples of src, which has the same kind, from the index from on to the index to of s.
func (s Samples) Copy(to int, src Samples, from, n int) {
	s, src = s.Part(to, to+n), src.Part(from, from+n)
	copy(s.U8, src.U8)
	copy(s.U16, src.U16)
	copy(s.F32, src.F32)
}

// Equal reports whether n samples of s from i on and of t, which has the same kind, from k on have the same bits.
func (s Samples) Equal(i int, t Samples, k, n int) bool {
	switch {
	case s.U8 != nil:
		return slices.Equal(s.U8[i:i+n], t.U8[k:k+n])
	case s.U16 != nil:
		return slices.Equal(s.U16[i:i+n], t.U16[k:k+n])
	}
	return slices.EqualFunc(s.F32[i:i+n], t.F32[k:k+n], func(v, w float32) bool {
		return math.Float32bits(v) == math.Float32bits(w)
	})
}

// Part returns the samples with the indexes i to j−1, in the same memory.
func (s Samples) Part(i, j int) Samples {
	return Samples{U8: part(s.U8, i, j), U16: part(s.U16, i, j), F32: part(s.F32, i, j)}
}

func part[T any](s []T, i, j int) []T {
	if s == nil {
		return nil
	}
	return s[i:j]
}

// StageTime is the time that a named stage took on the backend that ran it, summed over its repetitions.
type StageTime struct {
	Name string        `json:"name"`
	Time time.Duration `json:"ns"`
}

// Backend is a device that detection and correction run on: its memory, and the operations (Op) that it carries out on
// planes in it. A method that takes a context stops when it is cancelled and returns its error.
//
// A Backend is used by one job at a time.
type Backend interface {
	// Name is a short name of the device: "cpu", "cuda:0".
	Name() string
	// Alloc returns a plane with undefined content, of at most 2³² − 1 pixels.
	Alloc(kind Kind, w, h int) (Plane, error)
	// Upload copies host samples into dst.
	Upload(ctx context.Context, dst Plane, src Samples) error
	// Host returns the samples of p in host memory, to be read only, and only until p is written or released.
	// It copies on devices with memory of their own.
	Host(ctx context.Context, p Plane) (Samples, error)
	// Do carries out an operation. Arguments that the operation does not allow are refused before anything is done (see
	// Check). After an error the destinations are undefined.
	Do(ctx context.Context, op Op) error

	// Stage starts a named stage; calling the result ends it. Times of stages with the same name add up.
	Stage(name string) (end func())
	// Timings returns the stages since the last call, in the order of their first start.
	Timings() []StageTime
	// Close releases everything the backend holds.
	Close() error
}

// Frugal is a Backend that runs the classical detector in little memory: it fuses operations, part by part of the
// picture, so that their intermediate results need no planes. The results equal those of the operations.
type Frugal interface {
	Backend

	// FirstEstimate carries out op, whose Exclude is a plane of AllocMarks.
	FirstEstimate(ctx context.Context, op FirstEstimate) error
	// Classify carries out op, whose Exclude is a plane of AllocMarks.
	Classify(ctx context.Context, op Classify) error
	// AllocMarks returns a plane (U8) of samples 0 or 255 that stores them as bits.
	AllocMarks(w, h int) (Plane, error)
	// Mark writes 255 into a plane of AllocMarks on the spans, which are in reading order, and within a chessboard
	// distance of margin pixels; 0 elsewhere.
	Mark(ctx context.Context, dst Plane, spans []Span, margin int) error
}

// FirstEstimate writes 255 into Exclude (U8), 0 elsewhere, within Margin pixels of where Y (U16) exceeds its background
// by more than Over and V (U8) is at least Level. The background is the mean over the window of Radius of the opening
// by the square of that radius: Morph, BoxMean, DifferenceThreshold and Morph in one.
type FirstEstimate struct {
	Exclude, Y, V Plane
	Radius        int
	Over          uint16
	Level         uint8
	Margin        int
}

// Classify writes the class bits of Contrast and Cores into Class (U8), with Background over Radii, and as the peak of
// a pixel the strongest seed within PeakRadius.
type Classify struct {
	Class, Y, V, Exclude Plane
	Radii                []int
	Contrast             ContrastRule
	PeakRadius           int
	Cores                CoreRule
}

// Local is a Backend in host memory that can also work on slices of one tile, so that a thread takes a site through all
// steps while its pixels are in the cache. The results equal those of the operations.
type Local interface {
	Backend

	// EachTile calls f for 0 … n−1 on the threads of the backend. The Solver belongs to that call. No call starts after
	// ctx is cancelled; EachTile then returns the context's error.
	EachTile(ctx context.Context, n int, f func(by Solver, i int)) error
}

// Solver carries out operations on one tile of w × h pixels, in rows without padding. Its output is undefined after a
// cancel.
type Solver interface {
	// Harmonic is the operation Harmonic on each of the planes.
	Harmonic(planes [][]float32, state []uint8, w, h, sweeps int, omega float32)
	// Separate is the operation Separate.
	Separate(paint, seen [][]float32, light, expected []float32, state []uint8, w, h int, m *Separation)
	// Detail is the operation Detail, from p to p.
	Detail(p []float32, state []uint8, w, h int)
}

// Progress reports how far a job is: a stage's name and the share done of the whole, 0…1. It may be called from any
// goroutine and must return at once.
type Progress func(stage message.Message, done float64)
