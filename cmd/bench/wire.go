package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"time"
)

// answerTime bounds one answer, body included.
const answerTime = 60 * time.Second

// wire is a connection that sends requests as they were written beforehand, and
// reads answers without keeping them: a load generator must cost less than what
// it loads.
type wire struct {
	addr string
	conn net.Conn
	in   *bufio.Reader
}

// reply is what is looked at of an answer.
type reply struct {
	status int
	bytes  int64
}

// ask sends a request and reads its answer to the end.
func (w *wire) ask(request []byte) (reply, error) {
	if w.conn == nil {
		conn, err := net.DialTimeout("tcp", w.addr, 10*time.Second)
		if err != nil {
			return reply{}, err
		}
		w.conn, w.in = conn, bufio.NewReaderSize(conn, 256<<10)
	}
	_ = w.conn.SetDeadline(time.Now().Add(answerTime))
	if _, err := w.conn.Write(request); err != nil {
		return reply{}, w.broken(err)
	}
	answer, err := w.read()
	if err != nil {
		return reply{}, w.broken(err)
	}
	return answer, nil
}

func (w *wire) broken(err error) error {
	w.close()
	return err
}

func (w *wire) close() {
	if w.conn != nil {
		_ = w.conn.Close()
		w.conn = nil
	}
}

// read takes status and length from the head and skips the body.
func (w *wire) read() (reply, error) {
	var r reply
	first, err := w.in.ReadSlice('\n')
	if err != nil {
		return r, err
	}
	if len(first) < 12 {
		return r, errors.New("no HTTP answer")
	}
	if r.status, err = strconv.Atoi(string(first[9:12])); err != nil {
		return r, err
	}
	if r.bytes, err = w.length(); err != nil {
		return r, err
	}
	if r.bytes < 0 {
		return r, fmt.Errorf("an answer with status %d has no length", r.status)
	}
	_, err = io.CopyN(io.Discard, w.in, r.bytes)
	return r, err
}

var lengthName = []byte("Content-Length:")

// length reads the rest of the head; -1 if it names no length.
func (w *wire) length() (int64, error) {
	length := int64(-1)
	for {
		line, err := w.in.ReadSlice('\n')
		if err != nil {
			return 0, err
		}
		if len(line) <= 2 {
			return length, nil
		}
		if len(line) > len(lengthName) && bytes.EqualFold(line[:len(lengthName)], lengthName) {
			if length, err = strconv.ParseInt(string(bytes.TrimSpace(line[len(lengthName):])), 10, 64); err != nil {
				return 0, err
			}
		}
	}
}

// get writes a GET as wire sends it.
func get(host, path string, header http.Header) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "GET %s HTTP/1.1\r\nHost: %s\r\nUser-Agent: bench\r\nAccept: */*\r\n", path, host)
	_ = header.Write(&b)
	b.WriteString("\r\n")
	return b.Bytes()
}

// post writes a POST of JSON.
func post(host, path string, header http.Header, body []byte) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "POST %s HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n", path, host, len(body))
	_ = header.Write(&b)
	b.WriteString("\r\n")
	b.Write(body)
	return b.Bytes()
}
