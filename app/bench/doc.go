// Package bench shows what package experiment measures: tables for terminals, CSV and JSON with the facts of the
// machine, and plots. It measures nothing itself, and needs no window.
package bench
