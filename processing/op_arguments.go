package processing

import (
	"fmt"
	"math/bits"
	"reflect"
	"slices"
	"strings"
)

// Kinds is a set of sample types.
type Kinds uint8

const (
	u8       = Kinds(1) << U8
	u16      = Kinds(1) << U16
	f32      = Kinds(1) << F32
	integers = u8 | u16
	samples  = integers | f32
)

// Has reports whether k is in the set.
func (s Kinds) Has(k Kind) bool { return s>>k&1 != 0 }

func (s Kinds) String() string {
	var names []string
	for ; s != 0; s &= s - 1 {
		names = append(names, Kind(bits.TrailingZeros8(uint8(s))).String())
	}
	return strings.Join(names, " or ")
}

// arguments visits the arguments of an operation: it collects them, and checks them or replaces the planes if check or
// bind is set.
type arguments struct {
	uses  Uses
	check *checker
	bind  func(Plane) Plane
}

func (a *arguments) reads(role string, p *Plane, kinds Kinds) {
	a.plane(p, PlaneUse{Role: role, Read: true, Kinds: kinds})
}

// readsColours is for the picture as the network sees it.
func (a *arguments) readsColours(red, green, blue *Plane) {
	a.reads("red", red, u8)
	a.reads("green", green, u8)
	a.reads("blue", blue, u8)
}

func (a *arguments) writes(role string, p *Plane, kinds Kinds) {
	a.plane(p, PlaneUse{Role: role, Write: true, Kinds: kinds})
}

// updates is for a plane that is changed in place.
func (a *arguments) updates(role string, p *Plane, kinds Kinds) {
	a.plane(p, PlaneUse{Role: role, Read: true, Write: true, Kinds: kinds})
}

func (a *arguments) plane(p *Plane, use PlaneUse) {
	if a.bind != nil {
		*p = a.bind(*p)
		return
	}
	use.Plane = *p
	if a.uses.Planes == nil {
		a.uses.Planes = make([]PlaneUse, 0, 6)
	}
	a.uses.Planes = append(a.uses.Planes, use)
	if a.check != nil {
		a.check.plane(use)
	}
}

func (a *arguments) components(c Components) {
	a.uses.Components = c
	if a.check != nil {
		a.check.components(c)
	}
}

func (a *arguments) picture(p *Picture) { a.uses.Picture = p }

// tiles requires every tile to lie in the planes, which must be visited before.
func (a *arguments) tiles(list []Tile) {
	a.uses.Tiled, a.uses.Tiles = true, list
	for i, r := range list {
		if a.valid() && !r.within(a.check.w, a.check.h) {
			a.failf("tile %d (%d × %d at %d, %d) does not lie in planes of %d × %d pixels",
				i, r.W, r.H, r.X, r.Y, a.check.w, a.check.h)
		}
	}
}

// perTile requires one value for each tile.
func (a *arguments) perTile(what string, n int, list []Tile) {
	if n != len(list) {
		a.failf("%d %s given for %d tiles", n, what, len(list))
	}
}

// indices requires pixel indices, row·width + column, to lie in the planes, which must be visited before.
func (a *arguments) indices(list []uint32) {
	if len(list) > 0 && a.valid() {
		if i := slices.Max(list); uint64(i) >= uint64(a.check.w)*uint64(a.check.h) {
			a.failf("index %d lies outside a plane of %d × %d pixels", i, a.check.w, a.check.h)
		}
	}
}

// result requires a place for the result.
func (a *arguments) result(given bool) {
	if !given {
		a.failf("no place for the result given")
	}
}

// failf reports a wrong argument; only the first one of a check counts.
func (a *arguments) failf(format string, v ...any) {
	if a.valid() {
		a.check.failf(format, v...)
	}
}

// valid reports whether arguments are being checked and no mistake has been found.
func (a *arguments) valid() bool { return a.check != nil && a.check.err == nil }

// apart requires that a plane that is written is given only once.
func (a *arguments) apart() {
	if !a.valid() {
		return
	}
	for i, p := range a.uses.Planes {
		for j, q := range a.uses.Planes {
			if p.Write && i != j && p.Plane == q.Plane {
				a.failf("a plane that is written is given twice")
			}
		}
	}
}

// alike requires planes of one kind.
func (a *arguments) alike(dst, src Plane) {
	if a.valid() && dst.Kind() != src.Kind() {
		a.failf("the destination plane is %v, the source %v; both must be of one kind", dst.Kind(), src.Kind())
	}
}

func (a *arguments) radius(r, most int) {
	if r < 0 || r > most {
		a.failf("radius %d: must be between 0 and %d", r, most)
	}
}

// owned is implemented by the planes and components of all backends, by embedding a Handle.
type owned interface {
	Owner() Backend
	Released() bool
	Size() (w, h int)
}

// checker checks the arguments of one call; err keeps the first mistake.
type checker struct {
	b Backend
	// op is the operation to check; if it is nil, method names a method of the Backend.
	op     Op
	method string
	// w and h are the size of the arguments so far, 0 before the first.
	w, h int
	err  error
}

func (c *checker) failf(format string, v ...any) {
	if c.err != nil {
		return
	}
	name := c.method
	if c.op != nil {
		name = NameOf(c.op)
	}
	c.err = fmt.Errorf("%s: %s: "+format, append([]any{c.b.Name(), name}, v...)...)
}

// missing reports whether an interface is nil or holds a nil pointer.
func missing(v any) bool {
	r := reflect.ValueOf(v)
	return !r.IsValid() || r.Kind() == reflect.Pointer && r.IsNil()
}

// plane requires a plane of the backend that is not released, of one of the kinds, and of the size of earlier
// arguments.
func (c *checker) plane(use PlaneUse) {
	if missing(use.Plane) {
		c.failf("no %s plane given", use.Role)
		return
	}
	q, ok := use.Plane.(owned)
	switch {
	case !ok || q.Owner() != c.b:
		c.failf("the %s plane belongs to another backend", use.Role)
	case q.Released():
		c.failf("the %s plane was released", use.Role)
	case !use.Kinds.Has(use.Plane.Kind()):
		c.failf("the %s plane is %v, must be %v", use.Role, use.Plane.Kind(), use.Kinds)
	default:
		if w, h := q.Size(); !c.fits(w, h) {
			c.failf("the %s plane is %d × %d pixels, the others are %d × %d", use.Role, w, h, c.w, c.h)
		}
	}
}

// components requires components of the backend that are not released, from planes of the size of earlier arguments.
func (c *checker) components(list Components) {
	if missing(list) {
		c.failf("no components given")
		return
	}
	q, ok := list.(owned)
	switch {
	case !ok || q.Owner() != c.b:
		c.failf("the components belong to another backend")
	case q.Released():
		c.failf("the components were released")
	default:
		if w, h := q.Size(); !c.fits(w, h) {
			c.failf("the components are of %d × %d pixels, the planes are %d × %d", w, h, c.w, c.h)
		}
	}
}

func (c *checker) fits(w, h int) bool {
	if c.w == 0 {
		c.w, c.h = w, h
	}
	return w == c.w && h == c.h
}

// maxPixels keeps pixel indices within 32 bits.
const maxPixels uint64 = 1<<32 - 1

// CheckAlloc checks the arguments of Backend.Alloc.
func CheckAlloc(b Backend, kind Kind, w, h int) error {
	c := checker{b: b, method: "alloc"}
	switch {
	case kind > F32:
		c.failf("plane of unknown kind %d", kind)
	case w < 1 || h < 1:
		c.failf("plane of %d × %d pixels: both sides must be at least 1", w, h)
	case uint64(w) > maxPixels/uint64(h):
		c.failf("plane of %d × %d pixels: more than %d pixels", w, h, maxPixels)
	}
	return c.err
}

// CheckUpload checks the arguments of Backend.Upload.
func CheckUpload(b Backend, dst Plane, src Samples) error {
	c := checker{b: b, method: "upload"}
	if c.plane(PlaneUse{Plane: dst, Role: "destination", Kinds: samples}); c.err != nil {
		return c.err
	}
	if n := [...]int{len(src.U8), len(src.U16), len(src.F32)}[dst.Kind()]; n != c.w*c.h {
		c.failf("%d samples of the plane's kind given, %d needed", n, c.w*c.h)
	}
	return c.err
}

// CheckHost checks the argument of Backend.Host.
func CheckHost(b Backend, p Plane) error {
	c := checker{b: b, method: "host"}
	c.plane(PlaneUse{Plane: p, Role: "source", Kinds: samples})
	return c.err
}
