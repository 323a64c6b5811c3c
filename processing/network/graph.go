package network

// nodeKind is the operation that a node of the graph performs on a row of its cells.
type nodeKind uint8

const (
	// input computes the planes of the picture.
	input nodeKind = iota
	// convolve computes a layer.
	convolve
	// share computes the sums that the sources of half the resolution contribute to a layer of 1 × 1, at their
	// resolution: a row of 32-bit sums for each channel of the layer.
	share
	// repeat writes each cell of a coarser node several times.
	repeat
	// pool computes a layer that halves the resolution.
	pool
)

// node is a step of the inference whose rows are kept in a ring while they are needed.
type node struct {
	kind nodeKind
	// from are the input nodes, first is the first channel of each among the inputs of the layer. If shared is set, the
	// last input node is a share node, whose sums are added.
	from, first []int
	shared      bool
	// blocks is the number of blocks of four channels in a row; of a share node the number of its rows of sums.
	blocks int
	// times is the number of times that a repeat node repeats a cell in each direction. like is the source of the same
	// layer whose size the node takes.
	times, like int
	// layer is the layer that a node computes, packed its packed weights.
	layer  *Layer
	packed []pack
}

// graph returns the nodes of a model in topological order. The last one computes the logits.
func (m *Model) graph() []node {
	nodes := []node{{kind: input, blocks: Inputs / 4}}
	// at is the node that holds the result of each layer.
	at := map[int]int{Input: 0}
	for i := range m.Layers {
		l := &m.Layers[i]
		n := node{kind: convolve, layer: l, blocks: (l.Out + 3) / 4}
		if l.Kind == Pool {
			n.kind = pool
		}
		fine := 0
		for _, s := range l.From {
			if m.repeat(l, s) == 1 {
				fine = at[s]
			}
		}
		half := node{kind: share, layer: l, blocks: 4 * n.blocks}
		channel := 0
		for _, s := range l.From {
			source, to := at[s], &n
			switch times := m.repeat(l, s); {
			case times == 2 && l.Kind == Conv1:
				to = &half
			case times > 1:
				nodes = append(nodes, node{kind: repeat, from: []int{source}, blocks: nodes[source].blocks,
					times: times, like: fine})
				source = len(nodes) - 1
			}
			to.from, to.first = append(to.from, source), append(to.first, channel)
			channel += m.channels(s)
		}
		if half.from != nil {
			nodes = append(nodes, half)
			n.from, n.shared = append(n.from, len(nodes)-1), true
		}
		nodes = append(nodes, n)
		at[i] = len(nodes) - 1
	}
	return nodes
}

// span is a range of rows or columns, excluding to.
type span struct{ from, to int }

func (s span) clip(n int) span  { return span{max(s.from, 0), min(s.to, n)} }
func (s span) join(t span) span { return span{min(s.from, t.from), max(s.to, t.to)} }

// reach is the largest distance of a layer's weights from the centre.
func (l *Layer) reach() int { return l.Dilation * (l.Kind.Side() / 2) }

// needs returns the rows, or the columns, that a node needs of its source number k to compute a range of its own.
func (n *node) needs(k int, s span) span {
	switch {
	case n.shared && k == len(n.first):
		return span{s.from / 2, (s.to-1)/2 + 1}
	case n.kind == convolve || n.kind == share:
		d := n.layer.reach()
		return span{s.from - d, s.to + d}
	case n.kind == repeat:
		return span{s.from / n.times, (s.to-1)/n.times + 1}
	case n.kind == pool:
		return span{2 * s.from, 2 * s.to}
	}
	return s
}

// sizes returns the number of rows and of columns of each node for a picture of w × h pixels.
func sizes(nodes []node, w, h int) (rows, columns []int) {
	for _, n := range nodes {
		r, c := h, w
		switch n.kind {
		case repeat:
			r, c = rows[n.like], columns[n.like]
		case pool:
			r, c = (rows[n.from[0]]+1)/2, (columns[n.from[0]]+1)/2
		case convolve, share:
			r, c = rows[n.from[0]], columns[n.from[0]]
		}
		rows, columns = append(rows, r), append(columns, c)
	}
	return rows, columns
}
