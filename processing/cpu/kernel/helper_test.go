package kernel

// window is the geometry of windows of radius rx and ry on a picture of w × h pixels.
type window struct{ w, h, rx, ry int }

func newWindow(w, h, r int) window { return window{w, h, min(r, w-1), min(r, h-1)} }

// countX returns how many columns of the window around column x lie inside the picture.
func (g window) countX(x int) int { return min(x+g.rx, g.w-1) - max(x-g.rx, 0) + 1 }

func (g window) countY(y int) int { return min(y+g.ry, g.h-1) - max(y-g.ry, 0) + 1 }

// columnsAt returns what NewCounts wants for windows that begin at column x0.
func (g window) columnsAt(x0 int) func(i int) int {
	return func(i int) int { return max(1, g.countX(min(x0+i, g.w-1))) }
}
