// Package e2e drives the program's real window on a virtual screen and checks what comes out of it.
package e2e
