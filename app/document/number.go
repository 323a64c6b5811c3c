package document

import (
	"cmp"
	"image"
	"slices"
)

// Numbered is a number that a finding keeps, and pixels by which the finding is known again.
type Numbered struct {
	Number int
	Pixels []image.Point
}

// numbering gives findings the numbers that they keep until the next detection, or until the mask is made anew. The
// findings of the detection are numbered in reading order, those that are marked later go on from there. A number is
// never given to another finding, so that a note of it stays right.
type numbering struct {
	// found is the detection whose findings are numbered; nil where nothing follows from one.
	found *detection
	// last is the highest number that was given.
	last int
	// marked are the numbers of what was marked later, and of findings that were cut in pieces: the largest piece keeps
	// the number. The list is replaced, never changed, so that snapshots can hold it.
	marked []Numbered
}

func newNumbering(found *detection) *numbering { return &numbering{found: found} }

// numberPixels is how many pixels a finding is known by, maxNumber the highest number that is restored.
const numberPixels, maxNumber = 6, 1 << 30

// CorrectedNumbers returns the numbers of the findings that Corrections.Patches were made for.
func (d *Document) CorrectedNumbers() []int {
	numbers := make([]int, 0, d.corrections.Len())
	for _, k := range d.corrections.all() {
		s, _ := d.SpotAt(k.spot[0].X0, k.spot[0].Y)
		numbers = append(numbers, s.Number)
	}
	return numbers
}

// claim says that a spot has a pixel of the finding with a number.
type claim struct{ number, spot int }

// assign numbers the spots of a mask. With keep it remembers the numbers that it gives.
func (n *numbering) assign(l *labels, s *spotList, keep bool) {
	claims := n.claims(l, s)
	for i := range s.spots {
		s.spots[i].Number = 0
	}
	// renewed are the numbers to be remembered, of the spots that have them.
	renewed, any := make([]int, len(s.spots)), false
	for len(claims) > 0 {
		number, end := claims[0].number, 1
		for end < len(claims) && claims[end].number == number {
			end++
		}
		best := -1
		for _, c := range claims[:end] {
			if s.spots[c.spot].Number == 0 && (best < 0 || s.spots[c.spot].Area > s.spots[best].Area) {
				best = c.spot
			}
		}
		if best >= 0 {
			s.spots[best].Number = number
			if end > 1 {
				renewed[best], any = number, true
			}
		}
		claims = claims[end:]
	}
	last := n.last
	for i := range s.spots {
		if s.spots[i].Number == 0 {
			last++
			s.spots[i].Number = last
			renewed[i], any = last, true
		}
	}
	if keep && any {
		n.remember(l, s, renewed)
		n.last = last
	}
}

// claims returns which spots have pixels of numbered findings, in the order of the numbers.
func (n *numbering) claims(l *labels, s *spotList) (list []claim) {
	cut := map[int]bool{}
	for _, m := range n.marked {
		cut[m.Number] = true
		for _, p := range m.Pixels {
			if root := l.at(p.X, p.Y); root >= 0 {
				list = append(list, claim{m.Number, int(s.of[root])})
			}
		}
	}
	if n.found != nil {
		found := n.found.index()
		n.last = max(n.last, len(n.found.list.spots))
		common(found, l, func(was, is int32) {
			if number := int(n.found.list.of[was]) + 1; !cut[number] {
				list = append(list, claim{number, int(s.of[is])})
			}
		})
	}
	slices.SortFunc(list, func(a, b claim) int {
		return cmp.Or(cmp.Compare(a.number, b.number), cmp.Compare(a.spot, b.spot))
	})
	return slices.Compact(list)
}

// common calls do with the components of two masks of the same tiling that share a pixel, with some of them more than
// once.
func common(a, b *labels, do func(a, b int32)) {
	for i := range a.tile {
		// seen[k] is the part of b, plus one, that part k of a was seen with last.
		seen := make([]uint16, len(a.tile[i].parts))
		s, t := a.tile[i].runs, b.tile[i].runs
		for len(s) > 0 && len(t) > 0 {
			p, q := s[0], t[0]
			if p.y == q.y && p.x0 < q.x1 && q.x0 < p.x1 && seen[p.part] != q.part+1 {
				seen[p.part] = q.part + 1
				do(root(a.parent, a.base[i]+int32(p.part)), root(b.parent, b.base[i]+int32(q.part)))
			}
			if p.y < q.y || p.y == q.y && p.x1 < q.x1 {
				s = s[1:]
			} else {
				t = t[1:]
			}
		}
	}
}

// remember notes the numbers of spots with pixels of each, spread over its runs. numbers[i] is that of spot i, 0 for
// one that is not to be noted.
func (n *numbering) remember(l *labels, s *spotList, numbers []int) {
	each := func(do func(spot int, at image.Point)) {
		for i := range l.tile {
			corner := l.tiles.rect(i).Min
			for k, run := range l.tile[i].runs {
				if spot := int(s.of[root(l.parent, l.base[i]+int32(run.part))]); numbers[spot] > 0 {
					// Not always the middle, so that not all of them lie on one line.
					x := int(run.x0) + int(run.x1-run.x0)*(k%3+1)/4
					do(spot, corner.Add(image.Pt(x, int(run.y))))
				}
			}
		}
	}
	runs, passed, pixels := make([]int, len(numbers)), make([]int, len(numbers)), make([][]image.Point, len(numbers))
	each(func(spot int, _ image.Point) { runs[spot]++ })
	each(func(spot int, at image.Point) {
		k := passed[spot] * numberPixels
		if len(pixels[spot])*runs[spot] <= k {
			pixels[spot] = append(pixels[spot], at)
		}
		passed[spot]++
	})
	was := map[int]int{}
	marked := slices.Clone(n.marked)
	for i, m := range marked {
		was[m.Number] = i
	}
	for spot, number := range numbers {
		m := Numbered{number, pixels[spot]}
		if i, ok := was[number]; ok {
			marked[i] = m
		} else if number > 0 {
			marked = append(marked, m)
		}
	}
	n.marked = marked
}
