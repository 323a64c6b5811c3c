// Package bench presents measurements: tables for terminals, CSV and JSON with a description of the machine, and plots.
// It measures detection itself; package experiment measures the experiments. It needs no window.
package bench
