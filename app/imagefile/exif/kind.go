package exif

// Kind is the type of an entry's values.
type Kind uint16

// The kinds that are named.
const (
	Byte           Kind = 1
	ASCII          Kind = 2
	Short          Kind = 3
	Long           Kind = 4
	Rational       Kind = 5
	Undefined      Kind = 7
	signedRational Kind = 10
	IFD            Kind = 13
	Long8          Kind = 16
	IFD8           Kind = 18
)

// Size returns the size of a value in bytes; 0 for an unknown kind.
func (k Kind) Size() int64 {
	switch k {
	case 1, 2, 6, 7:
		return 1
	case 3, 8:
		return 2
	case 4, 9, 11, 13:
		return 4
	case 5, 10, 12, 16, 17, 18:
		return 8
	}
	return 0
}

// whole reports whether values of the kind are unsigned whole numbers.
func (k Kind) whole() bool {
	switch k {
	case Byte, Short, Long, IFD, Long8, IFD8:
		return true
	}
	return false
}

// Unit returns the size in bytes of the numbers in a value of the kind: fractions consist of two numbers.
func (k Kind) Unit() int64 {
	if k == Rational || k == signedRational {
		return 4
	}
	return k.Size()
}
