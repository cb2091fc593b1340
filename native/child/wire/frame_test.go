package wire

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"strings"
	"testing"
)

func TestMessagesSurviveTheWire(t *testing.T) {
	payloads := [][]byte{nil, []byte("short"), bytes.Repeat([]byte("x"), MaxFrame), bytes.Repeat([]byte("y"), 2*MaxFrame+1)}
	var pipe bytes.Buffer
	out := NewWriter(&pipe)
	for i, payload := range payloads {
		if err := out.Send(TypeBatch, uint32(i), payload); err != nil {
			t.Fatal(err)
		}
	}
	in := NewReader(&pipe)
	for i, payload := range payloads {
		message, err := in.Next()
		if err != nil {
			t.Fatal(err)
		}
		if message.Type != TypeBatch || message.ID != uint32(i) || !bytes.Equal(message.Payload, payload) {
			t.Errorf("message %d came back as type %q, id %d, %d bytes", i, message.Type, message.ID, len(message.Payload))
		}
	}
	if _, err := in.Next(); err != io.EOF {
		t.Errorf("at the end: %v", err)
	}
}

func TestNoFrameIsOverTheCap(t *testing.T) {
	var pipe bytes.Buffer
	if err := NewWriter(&pipe).Send(TypeDone, 1, make([]byte, MaxFrame+1)); err != nil {
		t.Fatal(err)
	}
	if length := binary.BigEndian.Uint32(pipe.Bytes()); length != MaxFrame+header {
		t.Errorf("first frame claims %d bytes", length)
	}
}

func TestBrokenStreams(t *testing.T) {
	frame := func(length uint32, kind byte, id uint32, payload string) string {
		head := binary.BigEndian.AppendUint32(nil, length)
		head = binary.BigEndian.AppendUint32(append(head, kind), id)
		return string(head) + payload
	}
	for name, c := range map[string]struct {
		stream string
		want   error
	}{
		"empty":                    {"", io.EOF},
		"inside the length":        {"\x00\x00", io.ErrUnexpectedEOF},
		"inside the payload":       {frame(header+9, TypeBatch, 1, "four"), io.ErrUnexpectedEOF},
		"between parts":            {frame(header+1, TypeBatch|more, 1, "a"), io.ErrUnexpectedEOF},
		"length below the header":  {frame(header-1, TypeBatch, 1, ""), nil},
		"length over the cap":      {frame(MaxFrame+header+1, TypeBatch, 1, ""), ErrTooLarge},
		"parts of two requests":    {frame(header, TypeBatch|more, 1, "") + frame(header, TypeBatch, 2, ""), nil},
		"a lie about a long frame": {frame(MaxFrame+header, TypeBatch, 1, "short"), io.ErrUnexpectedEOF},
	} {
		_, err := NewReader(strings.NewReader(c.stream)).Next()
		if err == nil || c.want != nil && !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
}

func TestFieldsRefuseLies(t *testing.T) {
	count := func(n uint32) []byte { return binary.BigEndian.AppendUint32(nil, n) }
	if f := NewFields(count(1 << 30)); f.Count(8) != 0 || f.End() == nil {
		t.Error("a count that cannot be true was believed")
	}
	if f := NewFields(append(count(9), "short"...)); f.Bytes() != nil || f.End() == nil {
		t.Error("a field longer than the payload was believed")
	}
	if f := NewFields(append(count(1), "ab"...)); string(f.Bytes()) != "a" || f.End() == nil {
		t.Error("bytes after the last field were overlooked")
	}
}

func FuzzReader(f *testing.F) {
	var good bytes.Buffer
	if err := NewWriter(&good).Send(TypeBatch, 7, []byte("payload")); err != nil {
		f.Fatal(err)
	}
	f.Add(good.Bytes())
	f.Add([]byte{0, 0, 0, 5, 'B' | more, 0, 0, 0, 1})
	f.Fuzz(func(t *testing.T, stream []byte) {
		in := NewReader(bytes.NewReader(stream))
		total := 0
		for {
			message, err := in.Next()
			if err != nil {
				return
			}
			if total += len(message.Payload); total > len(stream) {
				t.Fatalf("%d bytes out of a stream of %d", total, len(stream))
			}
		}
	})
}
