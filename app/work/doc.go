// Package work is the work on one file, from reading it to its report, for the command line, the filmstrip and the
// workers of a farm: what is asked for (Work), its result (Outcome), and a place where it is done (Workshop).
package work
