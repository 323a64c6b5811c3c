// Packaging writes the files that packages contain in addition to the program: the software bill of materials, the
// licences of built-in components, the manual pages, and zip archives. It is called by scripts/dist.sh and is not part
// of the program. Its output depends only on its arguments, so that builds are reproducible.
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

// epoch returns the modification time of all files: SOURCE_DATE_EPOCH, in seconds since 1970.
func epoch(text string) (time.Time, error) {
	seconds, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return time.Time{}, errors.New("SOURCE_DATE_EPOCH must hold the time of the version, in seconds since 1970")
	}
	return time.Unix(seconds, 0).UTC(), nil
}
