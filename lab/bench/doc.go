// Package bench presents measurements as text tables, CSV, JSON with a description of the machine, and plots. It also
// measures detection; package experiment measures the experiments.
package bench
