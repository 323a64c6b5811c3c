package settings

import "encoding/json"

// Keys maps the ID of an action to the key combination chosen by the user, such as "Ctrl+G", "F5" or "b"; empty for
// none.
type Keys map[string]string

// UnmarshalJSON keeps the entries that are strings and ignores all others.
func (k *Keys) UnmarshalJSON(data []byte) error {
	*k = nil
	var entries map[string]json.RawMessage
	if json.Unmarshal(data, &entries) != nil {
		return nil
	}
	for id, raw := range entries {
		var text *string
		if json.Unmarshal(raw, &text) != nil || text == nil {
			continue
		}
		if *k == nil {
			*k = Keys{}
		}
		(*k)[id] = *text
	}
	return nil
}
