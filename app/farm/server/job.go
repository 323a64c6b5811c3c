package server

import (
	"encoding/base32"
	"encoding/json"
	"strings"

	"blik/app/farm"
)

// batchID identifies work by its content. again distinguishes repetitions.
func batchID(w farm.Work, program, model, again string) string {
	data, err := json.Marshal([]any{w, program, model, again})
	if err != nil {
		return "" // only an invalid preset makes this fail
	}
	return farm.ShortID(data, 5)
}

type jobKey [farm.JobBytes]byte

// keyOf is the inverse of farm.ShortID for jobs.
func keyOf(id string) (jobKey, bool) {
	var key jobKey
	data, err := base32.StdEncoding.WithPadding(base32.NoPadding).DecodeString(strings.ToUpper(id))
	if err != nil || len(data) != farm.JobBytes {
		return key, false
	}
	return jobKey(data), true
}

func (k jobKey) String() string {
	return strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(k[:]))
}
