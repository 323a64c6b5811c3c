package settings

import "encoding/json"

// Keys are the keys that a person chose for actions: the ID of an action to its combination, such as "Ctrl+G", "F5" or
// "b"; an empty one is none.
type Keys map[string]string

// UnmarshalJSON keeps the entries that are texts. Other entries are ignored.
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
