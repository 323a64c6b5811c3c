package document

import (
	"cmp"
	"image"
	"slices"
)

// Numbered is the number of a finding, with pixels that identify the finding later.
type Numbered struct {
	Number int
	Pixels []image.Point
}

// numbering assigns the numbers of findings, which stay the same until the next detection or until the mask is
// replaced. The findings of a detection are numbered in reading order, and those marked later continue from there. A
// number is never given to another finding, so that written notes stay right.
type numbering struct {
	// found is the detection whose findings are numbered; nil if the mask does not come from one.
	found *detection
	// last is the highest number assigned so far.
	last int
	// marked holds the numbers of findings that were marked later or cut into pieces, of which the largest keeps the
	// number. The list is replaced, never modified, because snapshots share it.
	marked []Numbered
}

func newNumbering(found *detection) *numbering { return &numbering{found: found} }

// numberPixels is the number of pixels that identify a finding, maxNumber the highest number that can be restored.
const numberPixels, maxNumber = 6, 1 << 30

// CorrectedNumbers returns the numbers of the findings of Corrections.Patches.
func (d *Document) CorrectedNumbers() []int {
	numbers := make([]int, 0, d.corrections.Len())
	for _, k := range d.corrections.all() {
		s, _ := d.SpotAt(k.spot[0].X0, k.spot[0].Y)
		numbers = append(numbers, s.Number)
	}
	return numbers
}

// claim says that a spot contains a pixel of the finding with a number.
type claim struct{ number, spot int }

// assign numbers the spots of a mask. With keep it remembers the numbers that it assigns.
func (n *numbering) assign(l *labels, s *spotList, keep bool) {
	claims := n.claims(l, s)
	for i := range s.spots {
		s.spots[i].Number = 0
	}
	// renewed holds the numbers to remember, for each spot.
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

// claims returns which spots contain pixels of numbered findings, in the order of the numbers.
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

// common calls do for each pair of components of two masks that share a pixel, for some pairs more than once. The masks
// have the same tiling.
func common(a, b *labels, do func(a, b int32)) {
	for i := range a.tile {
		// seen[k] is one plus the part of b with which part k of a was last reported.
		seen := make([]uint32, len(a.tile[i].parts))
		s, t := a.tile[i].runs, b.tile[i].runs
		for len(s) > 0 && len(t) > 0 {
			p, q := s[0], t[0]
			if p.Y == q.Y && p.X0 < q.X1 && q.X0 < p.X1 && seen[p.Label] != q.Label+1 {
				seen[p.Label] = q.Label + 1
				do(a.root(i, p.Label), b.root(i, q.Label))
			}
			if p.Y < q.Y || p.Y == q.Y && p.X1 < q.X1 {
				s = s[1:]
			} else {
				t = t[1:]
			}
		}
	}
}

// remember stores the numbers of spots with some pixels of each, distributed over its runs. numbers[i] is the number of
// spot i, 0 if it is not to be stored.
func (n *numbering) remember(l *labels, s *spotList, numbers []int) {
	each := func(do func(spot int, at image.Point)) {
		for i := range l.tile {
			for k, run := range l.tile[i].runs {
				if spot := int(s.of[l.root(i, run.Label)]); numbers[spot] > 0 {
					// Vary the position, so that the pixels do not all lie on one line.
					x := int(run.X0) + int(run.X1-run.X0)*(k%3+1)/4
					do(spot, image.Pt(x, int(run.Y)))
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
