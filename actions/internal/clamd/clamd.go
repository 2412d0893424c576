// Package clamd asks a ClamAV daemon whether bytes hold a virus, by its INSTREAM
// command: the daemon needs no access to files of ours.
package clamd

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"strings"
	"time"
)

var (
	// ErrUnavailable: the daemon did not answer, or not with a verdict.
	ErrUnavailable = errors.New("the virus scanner is unavailable")
	// ErrTooLarge: the bytes are more than the daemon takes (its StreamMaxLength).
	ErrTooLarge = errors.New("too large for the virus scanner")
)

const (
	dialTime    = 5 * time.Second
	stallTime   = 30 * time.Second // for one piece of the body
	verdictTime = 5 * time.Minute  // archives take their time
	pieceSize   = 64 << 10
	maxAnswer   = 4 << 10
)

// Client speaks to one daemon. It is safe for concurrent use; every scan has a
// connection of its own.
type Client struct{ network, address string }

// New reads the daemon's address, tcp://host:port or unix:///path. It talks to nobody.
func New(server string) (*Client, error) {
	u, err := url.Parse(server)
	switch {
	case err != nil:
	case u.Scheme == "tcp" && u.Hostname() != "" && u.Port() != "" && u.Path == "":
		return &Client{network: "tcp", address: u.Host}, nil
	case u.Scheme == "unix" && u.Host == "" && u.Path != "":
		return &Client{network: "unix", address: u.Path}, nil
	}
	return nil, fmt.Errorf("%q is not the address of a clamd: it must be tcp://host:port or unix:///path", server)
}

// Scan sends body to the daemon and returns the name of the virus that it found,
// "" if it found none. An error of body's own comes back as it is; all others
// are ErrTooLarge or ErrUnavailable.
func (c *Client) Scan(ctx context.Context, body io.Reader) (virus string, err error) {
	dialing, cancel := context.WithTimeout(ctx, dialTime)
	defer cancel()
	conn, err := (&net.Dialer{}).DialContext(dialing, c.network, c.address)
	if err != nil {
		return "", unavailable(ctx, err)
	}
	defer conn.Close()
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()

	sent := send(conn, body)
	if own, ok := errors.AsType[*bodyError](sent); ok {
		return "", own.err
	}
	// A daemon that has had enough says so before it hangs up, so the answer is
	// read even if not everything could be sent.
	answer, err := receive(conn)
	if err != nil {
		return "", unavailable(ctx, errors.Join(sent, err))
	}
	return verdict(answer)
}

func unavailable(ctx context.Context, cause error) error {
	if ctx.Err() != nil {
		return ctx.Err() //nolint:wrapcheck // the caller's own
	}
	return fmt.Errorf("%w: %w", ErrUnavailable, cause)
}

// bodyError is an error of the body, not of the daemon.
type bodyError struct{ err error }

func (e *bodyError) Error() string { return e.err.Error() }

// send writes the command and the body in pieces, each after its length in four
// bytes; a length of zero ends it.
func send(conn net.Conn, body io.Reader) error {
	w := deadlined{conn}
	if _, err := io.WriteString(w, "zINSTREAM\x00"); err != nil {
		return err //nolint:wrapcheck // wrapped by the caller
	}
	piece := make([]byte, 4+pieceSize)
	for {
		n, err := io.ReadFull(body, piece[4:])
		ended := errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
		if err != nil && !ended {
			return &bodyError{err}
		}
		if n > 0 {
			binary.BigEndian.PutUint32(piece, uint32(n))
			if _, err := w.Write(piece[:4+n]); err != nil {
				return err
			}
		}
		if ended {
			_, err = w.Write(make([]byte, 4))
			return err
		}
	}
}

// deadlined gives each write its own time.
type deadlined struct{ net.Conn }

func (d deadlined) Write(p []byte) (int, error) {
	_ = d.SetWriteDeadline(time.Now().Add(stallTime))
	return d.Conn.Write(p) //nolint:wrapcheck // wrapped by the caller
}

func receive(conn net.Conn) (string, error) {
	_ = conn.SetReadDeadline(time.Now().Add(verdictTime))
	answer, err := bufio.NewReader(io.LimitReader(conn, maxAnswer)).ReadString(0)
	if err != nil {
		return "", fmt.Errorf("no verdict came: %w", err)
	}
	return strings.TrimRight(answer, "\x00\n"), nil
}

// verdict reads "stream: OK", "stream: <name> FOUND" or "<text> ERROR".
func verdict(answer string) (string, error) {
	said := strings.TrimPrefix(answer, "stream: ")
	if name, ok := strings.CutSuffix(said, " FOUND"); ok {
		return name, nil
	}
	switch {
	case said == "OK":
		return "", nil
	case strings.Contains(said, "size limit exceeded"):
		return "", ErrTooLarge
	}
	return "", fmt.Errorf("%w: it says %q", ErrUnavailable, answer)
}
