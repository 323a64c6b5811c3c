// Package house contains no code, only tests of rules that apply to the whole tree.
package house
