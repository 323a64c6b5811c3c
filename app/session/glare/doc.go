// Package glare finds glare in the open picture of a session and corrects it.
package glare
