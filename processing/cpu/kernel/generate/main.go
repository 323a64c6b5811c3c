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

// width is a size of vectors. Short is part of the names of the bodies to which a body leaves rows that are too short.
type width struct {
	Bits  int
	Short string
}

func (w width) Bytes() int { return w.Bits / 8 }

// order describes bodies for the largest (Max) or smallest (Min) of samples of a type.
type order struct {
	width
	sample
	Best string
}

// sample is a type of samples, and the name of archsimd for it.
type sample struct {
	Sample, lane string
	bits         int
}

// orders returns those for the minimum behind those for the maximum, which hold the loads and stores of both.
func orders() []order {
	samples := []sample{{"uint8", "Uint8", 8}, {"uint16", "Uint16", 16}}
	var all []order
	for _, w := range []width{{256, ""}, {512, "256"}} {
		for _, s := range samples {
			for _, best := range []string{"Max", "Min"} {
				all = append(all, order{w, s, best})
			}
		}
	}
	return all
}

// Suffix ends the names of the bodies: the bits of a sample and of a vector.
func (o order) Suffix() string { return fmt.Sprintf("%dx%d", o.bits, o.Bits) }

// Flip reverses the order of samples for the smallest: see fold.
func (o order) Flip() string {
	return map[string]string{"Max": "0", "Min": "^" + o.Sample + "(0)"}[o.Best]
}

func (o order) Lanes() int { return o.Bits / o.bits }

// Vector is the type of archsimd, such as Uint8x32.
func (o order) Vector() string { return fmt.Sprintf("%sx%d", o.lane, o.Lanes()) }

// Short hides the one of width: a body for 512 bits is named after the samples, too.
func (o order) Short() string {
	if o.width.Short == "" {
		return ""
	}
	return fmt.Sprintf("%dx%s", o.bits, o.width.Short)
}
