package message

import (
	"errors"
	"io/fs"
)

// Plain strips the operation and the path from an error of package os: the message around it names the file.
func Plain(err error) error {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		return pe.Err
	}
	return err
}
