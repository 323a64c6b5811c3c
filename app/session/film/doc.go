// Package film is the filmstrip of a session: its pictures, their states, and their processing one after the other.
package film
