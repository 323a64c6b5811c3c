package server

import (
	"encoding/json"
	"strings"

	"blik/app/farm"

	"github.com/nats-io/nats.go"
)

// readRequest returns the request in a message.
func readRequest(msg *nats.Msg) (farm.Request, error) {
	var r farm.Request
	text, piece := farm.ReadMessage(msg)
	if len(text) > maxRequest || len(msg.Header) > 1 || json.Unmarshal(text, &r) != nil ||
		len(r.Ticket) > maxTicket {
		return farm.Request{}, errUnreadable()
	}
	r.Content = piece
	return r, nil
}

// respond answers a request. Answers go to inboxes only: the manager may publish what the sender may not.
func respond(msg *nats.Msg, text, piece []byte) error {
	if !strings.HasPrefix(msg.Reply, nats.InboxPrefix) {
		return nil
	}
	return msg.RespondMsg(farm.NewMessage("", text, piece))
}
