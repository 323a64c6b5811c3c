package correct

import "blik/processing"

// Methods returns all methods, processing.MethodAuto first.
func Methods() []processing.Method {
	var list []processing.Method
	for i := range methods() {
		list = append(list, processing.Method(i))
	}
	return list
}
