// Command generate writes the vector bodies of processing/cpu/kernel that differ from others only in names and sizes,
// because Go's vector types cannot be type parameters. The template order.tmpl gives order_gen.go. go generate calls it
// in the folder of the kernels.
package main

import (
	"bytes"
	"embed"
	"fmt"
	"go/format"
	"os"
	"text/template"
)

//go:embed *.tmpl
var templates embed.FS

func main() {
	files, err := generate()
	if err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
	for name, text := range files {
		if err := os.WriteFile(name, text, 0o644); err != nil {
			fmt.Fprintln(os.Stderr, "generate:", err)
			os.Exit(1)
		}
	}
}

// generate returns the text of each generated file by its name.
func generate() (map[string][]byte, error) {
	all, err := template.ParseFS(templates, "*.tmpl")
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if err := all.ExecuteTemplate(&b, "order.tmpl", orders()); err != nil {
		return nil, err
	}
	text, err := format.Source(b.Bytes())
	return map[string][]byte{"order_gen.go": text}, err
}

// order describes bodies with vectors of 256 bits, for the largest (Max) or smallest (Min) of samples of a type, of
// which Lane is the name in archsimd.
type order struct {
	Sample, Lane string
	Bits         int
	Best         string
}

// orders returns those for the minimum behind those for the maximum, which hold the loads and stores of both.
func orders() []order {
	return []order{
		{"uint8", "Uint8", 8, "Max"}, {"uint8", "Uint8", 8, "Min"},
		{"uint16", "Uint16", 16, "Max"}, {"uint16", "Uint16", 16, "Min"},
	}
}

// Suffix ends the names of the bodies: the bits of a sample and of a vector.
func (o order) Suffix() string { return fmt.Sprintf("%dx256", o.Bits) }

// Flip reverses the order of samples for the smallest: see fold.
func (o order) Flip() string {
	return map[string]string{"Max": "0", "Min": "^" + o.Sample + "(0)"}[o.Best]
}

func (o order) Lanes() int { return 256 / o.Bits }

// Vector is the type of archsimd, such as Uint8x32.
func (o order) Vector() string { return fmt.Sprintf("%sx%d", o.Lane, o.Lanes()) }
