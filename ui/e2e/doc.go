// Package e2e drives the program's real window on a virtual screen and checks the results.
package e2e
