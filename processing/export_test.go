package processing

// Methods returns all methods, MethodAuto first.
func Methods() []Method {
	list := make([]Method, methodCount)
	for i := range list {
		list[i] = Method(i)
	}
	return list
}
