// Packaging writes what goes into packages beside the program: the bill of materials, the licences of what is built in,
// the manual pages, and zip archives. scripts/dist.sh calls it; nothing of it is part of the program. All that it
// writes depends on its arguments only, so that a second run gives the same bytes.
package main

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"time"
)

const usage = `usage: packaging sbom VERSION PROGRAM OUTPUT
       packaging licences OUTPUT PROGRAM...
       packaging manual LANGUAGE VERSION FOLDER
       packaging zip OUTPUT FOLDER`

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "packaging:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	errUse := errors.New(usage)
	if len(args) < 3 {
		return errUse
	}
	date, err := epoch(os.Getenv("SOURCE_DATE_EPOCH"))
	if err != nil {
		return err
	}
	switch rest := args[1:]; {
	case args[0] == "sbom" && len(rest) == 3:
		return writeSBOM(rest[0], rest[1], rest[2], date)
	case args[0] == "licences":
		return writeLicences(rest[0], rest[1:])
	case args[0] == "manual" && len(rest) == 3:
		return writeManual(rest[0], rest[1], rest[2], date)
	case args[0] == "zip" && len(rest) == 2:
		return writeZip(rest[0], rest[1], date)
	}
	return errUse
}

// epoch returns the time that all files carry: that of SOURCE_DATE_EPOCH, in seconds since 1970.
func epoch(text string) (time.Time, error) {
	seconds, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return time.Time{}, errors.New("SOURCE_DATE_EPOCH must hold the time of the version, in seconds since 1970")
	}
	return time.Unix(seconds, 0).UTC(), nil
}
