package container

import (
	"crypto/sha256"
	"hash"
	"io"
	"slices"

	"blik/internal/message"
)

// Inventory lists the contents of a container, except the colour samples of its picture, regardless of their encoding:
// every tag, chunk and segment, alpha and extra channels, all samples of further pages and smaller copies. Two files
// with equal samples and equal inventories have the same contents.
type Inventory struct {
	Items []Item
	// Unlisted holds clauses about parts that could not be read and therefore cannot be compared.
	Unlisted []message.Message
	// Coverage records where the parts lie in the file.
	Coverage Coverage
}

// Item is a part of an inventory.
type Item struct {
	// Name is the name of the part; parts with the same name are compared in order.
	Name message.Message
	// Sum is the SHA-256 of its content.
	Sum [sha256.Size]byte
	// Geometry: the part only states the size of the picture.
	Geometry bool
	// Unused: nothing that reads the file needs the part. A result may lack it, but may not have another.
	Unused bool
	// Harmless: the part says nothing by itself. It may differ from another harmless one, and either file may lack it.
	Harmless bool
}

// Add adds a part with its content. The item that it returns is valid until the next part is added.
func (v *Inventory) Add(name message.Message, content ...[]byte) *Item {
	h := sha256.New()
	for _, c := range content {
		h.Write(c)
	}
	return v.AddSum(name, h)
}

// AddSum is Add for content that was written to h.
func (v *Inventory) AddSum(name message.Message, h hash.Hash) *Item {
	item := Item{Name: name}
	h.Sum(item.Sum[:0])
	v.Items = append(v.Items, item)
	return &v.Items[len(v.Items)-1]
}

// AddRange adds n bytes of a file as a part, unless n is 0.
func (v *Inventory) AddRange(name message.Message, r io.ReaderAt, at, n int64) error {
	if n == 0 {
		return nil
	}
	h := sha256.New()
	if _, err := io.CopyN(h, io.NewSectionReader(r, at, n), n); err != nil {
		return ReadError(err)
	}
	v.AddSum(name, h)
	return nil
}

// Differences returns the names of the parts that are missing from one of two inventories or have different contents,
// each once, in the order of v and then of w, which is that of the result. Without geometry, parts that state the size
// of the picture are ignored.
func (v *Inventory) Differences(w *Inventory, geometry bool) []message.Message {
	type part struct {
		sums             [][sha256.Size]byte
		name             message.Message
		unused, harmless bool
	}
	parts := func(of *Inventory) (map[string]*part, []string) {
		all, order := map[string]*part{}, []string(nil)
		for _, i := range of.Items {
			if i.Geometry && !geometry {
				continue
			}
			key := i.Name.String()
			if all[key] == nil {
				all[key] = &part{name: i.Name, unused: i.Unused, harmless: i.Harmless}
				order = append(order, key)
			}
			all[key].sums = append(all[key].sums, i.Sum)
		}
		return all, order
	}
	a, first := parts(v)
	b, second := parts(w)
	var names []message.Message
	for _, key := range first {
		other := b[key]
		if other == nil && a[key].unused || other != nil && a[key].harmless && other.harmless {
			continue
		}
		if other == nil || !slices.Equal(a[key].sums, other.sums) {
			names = append(names, a[key].name)
		}
	}
	for _, key := range second {
		if a[key] == nil && !b[key].harmless {
			names = append(names, b[key].name)
		}
	}
	return names
}
