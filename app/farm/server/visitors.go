package server

import (
	"net"
	"net/http"
	"sync"
	"time"
)

// visitors bounds the connections to the page, so that descriptors are left for the queue. If there are too many, those
// that wait longest without a request are closed.
type visitors struct {
	net.Listener
	limit int

	mu    sync.Mutex
	since map[net.Conn]time.Time // idle
	all   map[net.Conn]bool
}

func newVisitors(l net.Listener, limit int) *visitors {
	return &visitors{Listener: l, limit: limit, since: map[net.Conn]time.Time{}, all: map[net.Conn]bool{}}
}

// note implements http.Server.ConnState.
func (v *visitors) note(c net.Conn, state http.ConnState) {
	v.mu.Lock()
	defer v.mu.Unlock()
	delete(v.since, c)
	switch state {
	case http.StateNew:
		v.all[c], v.since[c] = true, time.Now()
	case http.StateIdle:
		if v.all[c] { // one that was closed here may still answer a request
			v.since[c] = time.Now()
		}
	case http.StateActive:
	default:
		delete(v.all, c)
	}
	for len(v.all) > v.limit {
		oldest := c
		for other, since := range v.since {
			if other != c && (oldest == c || since.Before(v.since[oldest])) {
				oldest = other
			}
		}
		delete(v.all, oldest)
		delete(v.since, oldest)
		go oldest.Close() // with TLS this may wait for the visitor
		if oldest == c {
			return
		}
	}
}
