// Package wire is the language between the engine and its child process: frames over two pipes.
//
// A frame is a big-endian u32 length of what follows, a u8 type, a u32 request id and a payload. A message longer than
// one frame is cut into frames of the same type and id, all but the last carrying the More bit.
package wire

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sync"
)

const (
	// Protocol is raised with every change that an older engine would misread.
	Protocol = 2
	// MaxFrame bounds the payload of one frame.
	MaxFrame = 16 << 20
	// MaxMessage bounds what is joined from the frames of one message.
	MaxMessage = 1 << 30

	header = 5
	more   = 0x80
)

// Types of messages. Requests come from the engine, the others from the child.
const (
	TypeConfigure = 'C'
	TypeBatch     = 'B'
	TypeLoad      = 'L'
	TypeInventory = 'N'
	TypeInspect   = 'I'
	TypeQuery     = 'Q'
	TypeTrace     = 'X'
	TypePositions = 'P'
	TypeSuite     = 'S'
	TypeTests     = 'R'

	TypeHello     = 'H'
	TypePart      = 'A'
	TypeDone      = 'D'
	TypeFailed    = 'E'
	TypeHeartbeat = 'T'
)

// ErrTooLarge is returned for frames and messages over their caps.
var ErrTooLarge = errors.New("message over the size cap")

// Message is one whole request or reply.
type Message struct {
	Type    byte
	ID      uint32
	Payload []byte
}

// Reader joins frames into messages.
type Reader struct {
	in *bufio.Reader
}

// NewReader reads frames from r.
func NewReader(r io.Reader) *Reader {
	return &Reader{in: bufio.NewReaderSize(r, 1<<16)}
}

// Next returns the next message. io.EOF means that the other side closed the pipe between two messages.
func (r *Reader) Next() (Message, error) {
	var message Message
	for first := true; ; first = false {
		kind, id, payload, err := r.frame()
		if err != nil {
			if err == io.EOF && !first {
				err = io.ErrUnexpectedEOF
			}
			return Message{}, err
		}
		if first {
			message = Message{Type: kind &^ more, ID: id, Payload: payload}
		} else {
			if kind&^more != message.Type || id != message.ID {
				return Message{}, fmt.Errorf("frame %q of request %d inside message %q of request %d",
					kind&^more, id, message.Type, message.ID)
			}
			if len(message.Payload)+len(payload) > MaxMessage {
				return Message{}, ErrTooLarge
			}
			message.Payload = append(message.Payload, payload...)
		}
		if kind&more == 0 {
			return message, nil
		}
	}
}

func (r *Reader) frame() (byte, uint32, []byte, error) {
	var head [4 + header]byte
	if _, err := io.ReadFull(r.in, head[:1]); err != nil {
		return 0, 0, nil, err
	}
	if _, err := io.ReadFull(r.in, head[1:]); err != nil {
		return 0, 0, nil, unexpected(err)
	}
	length := binary.BigEndian.Uint32(head[:])
	if length < header {
		return 0, 0, nil, fmt.Errorf("frame of %d bytes is shorter than its header", length)
	}
	if length > MaxFrame+header {
		return 0, 0, nil, ErrTooLarge
	}
	payload, err := readPayload(r.in, int(length-header))
	if err != nil {
		return 0, 0, nil, unexpected(err)
	}
	return head[4], binary.BigEndian.Uint32(head[5:]), payload, nil
}

// readPayload grows with what really arrives, so that a lying length does not reserve memory.
func readPayload(in io.Reader, length int) ([]byte, error) {
	const step = 1 << 20
	payload := make([]byte, min(length, step))
	if _, err := io.ReadFull(in, payload); err != nil {
		return nil, err
	}
	for len(payload) < length {
		have := len(payload)
		payload = append(payload, make([]byte, min(length-have, max(step, have)))...)
		if _, err := io.ReadFull(in, payload[have:]); err != nil {
			return nil, err
		}
	}
	return payload, nil
}

func unexpected(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// Writer cuts messages into frames. It may be shared; messages never mix.
type Writer struct {
	mu  sync.Mutex
	out *bufio.Writer
}

// NewWriter writes frames to w.
func NewWriter(w io.Writer) *Writer {
	return &Writer{out: bufio.NewWriterSize(w, 1<<16)}
}

// Send writes one message and flushes it.
func (w *Writer) Send(kind byte, id uint32, payload []byte) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	for len(payload) > MaxFrame {
		if err := w.frame(kind|more, id, payload[:MaxFrame]); err != nil {
			return err
		}
		payload = payload[MaxFrame:]
	}
	if err := w.frame(kind, id, payload); err != nil {
		return err
	}
	return w.out.Flush()
}

func (w *Writer) frame(kind byte, id uint32, payload []byte) error {
	var head [4 + header]byte
	binary.BigEndian.PutUint32(head[:], uint32(len(payload)+header))
	head[4] = kind
	binary.BigEndian.PutUint32(head[5:], id)
	if _, err := w.out.Write(head[:]); err != nil {
		return err
	}
	_, err := w.out.Write(payload)
	return err
}
