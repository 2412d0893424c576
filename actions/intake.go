package actions

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash"
	"io"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"hasura-storage/actions/images"
	"hasura-storage/s3"
)

const (
	smallBody            = 64 << 10 // read without asking for memory
	intakePart     int64 = 8 << 20  // of a body that is sent on in parts
	largestIntake  int64 = 64 << 20 // part; ten thousand of them are the largest file by REST
	intakePatience       = 30 * time.Second
)

// intake sends bodies of unknown length on to the store. It holds one part of
// each, and all parts together are bounded: flat memory, however large files are.
// One sender has at most a quarter of it, so that slow ones do not keep it all.
type intake struct {
	store *s3.Store
	room  *semaphore.Weighted
	parts sync.Pool // of *[]byte with intakePart bytes

	share   int64 // bytes for one sender
	mu      sync.Mutex
	senders map[string]*sender // those that hold memory or wait for it
}

// sender is one caller's share of the memory.
type sender struct {
	room     *semaphore.Weighted
	requests int
}

func newIntake(store *s3.Store, budget int64) *intake {
	budget = max(budget, largestIntake)
	in := &intake{
		store: store, room: semaphore.NewWeighted(budget),
		share: max(budget/4, largestIntake), senders: map[string]*sender{},
	}
	in.parts.New = func() any { b := make([]byte, intakePart); return &b }
	return in
}

// received is what is known of a body once it is stored.
type received struct {
	object   s3.Object
	mimeType string
	sha256   string
	facts    images.Facts // of a picture that came in one piece
	pieces   bool         // it was sent on in parts
}

// body is one file on its way in.
type body struct {
	io.Reader
	sender              string // whose share of the memory it takes
	key, name, declared string // where to, and what the client says of it
	limit               int64  // bytes it may have
	length              int64  // that it can have at most, by the request's length; -1 is unknown
}

// tooLongError says that a body has more bytes than it may.
type tooLongError struct{ size int64 }

func (e *tooLongError) Error() string { return "the body is longer than it may be" }

// receive stores a body. A body that is too long is read to its end, within
// reason, so that its size can be told; *tooLongError then says it. Whatever
// fails, nothing is left at the store but what a crash may leave.
func (in *intake) receive(ctx context.Context, b body, look func([]byte) images.Facts) (received, error) {
	first := make([]byte, min(smallBody, b.limit+1))
	n, err := io.ReadFull(b, first)
	if ended(err) {
		return in.whole(ctx, b, first[:n], look)
	}
	if err != nil {
		return received{}, err
	}
	if int64(n) > b.limit {
		return received{}, b.overrun(int64(n))
	}
	size := in.partSize(b)
	release, err := in.reserve(ctx, b.sender, size)
	if err != nil {
		return received{}, err
	}
	defer release()
	part, giveBack := in.part(size)
	defer giveBack()
	copy(part, first)
	n, err = io.ReadFull(b, part[n:])
	n += len(first)
	if ended(err) {
		return in.whole(ctx, b, part[:n], look)
	}
	if err != nil {
		return received{}, err
	}
	return in.inParts(ctx, b, part)
}

// ended reports whether a ReadFull met the body's end.
func ended(err error) bool { return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) }

// partSize is the size of equal parts that suffice for the longest body this can be.
func (in *intake) partSize(b body) int64 {
	longest := b.limit
	if b.length >= 0 {
		longest = min(longest, b.length)
	}
	return min(s3.PartSize(longest, intakePart), largestIntake)
}

// reserve waits for size bytes of the sender's share, then of all there is.
func (in *intake) reserve(ctx context.Context, of string, size int64) (release func(), err error) {
	waiting, cancel := context.WithTimeout(ctx, intakePatience)
	defer cancel()
	mine, leave := in.join(of)
	defer func() {
		if err != nil {
			leave()
		}
	}()
	if mine.room.Acquire(waiting, size) != nil {
		return nil, gaveUp(ctx)
	}
	if in.room.Acquire(waiting, size) != nil {
		mine.room.Release(size)
		return nil, gaveUp(ctx)
	}
	return func() {
		in.room.Release(size)
		mine.room.Release(size)
		leave()
	}, nil
}

// join returns the share of a sender while one of his requests needs it.
func (in *intake) join(of string) (mine *sender, leave func()) {
	in.mu.Lock()
	defer in.mu.Unlock()
	mine = in.senders[of]
	if mine == nil {
		mine = &sender{room: semaphore.NewWeighted(in.share)}
		in.senders[of] = mine
	}
	mine.requests++
	return mine, func() {
		in.mu.Lock()
		defer in.mu.Unlock()
		if mine.requests--; mine.requests == 0 {
			delete(in.senders, of)
		}
	}
}

func gaveUp(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return Errorf(Busy, "too many files are being uploaded, try again")
}

// part returns memory for one part, and how to give it back.
func (in *intake) part(size int64) ([]byte, func()) {
	if size != intakePart {
		return make([]byte, size), func() {}
	}
	part, ok := in.parts.Get().(*[]byte)
	if !ok {
		return make([]byte, size), func() {}
	}
	return *part, func() { in.parts.Put(part) }
}

// whole stores a body that is there to its last byte.
func (in *intake) whole(ctx context.Context, b body, content []byte, look func([]byte) images.Facts) (received, error) {
	if int64(len(content)) > b.limit {
		return received{}, b.overrun(int64(len(content)))
	}
	got := received{mimeType: typeOf(content[:min(len(content), sniffBytes)], b.declared, b.name)}
	sum := sha256.Sum256(content)
	got.sha256 = hex.EncodeToString(sum[:])
	got.facts = look(content)
	var err error
	got.object, err = in.store.Put(ctx, b.key, bytes.NewReader(content), int64(len(content)), got.mimeType)
	return got, storeError(err)
}

// inParts stores a body of which the first part is there.
func (in *intake) inParts(ctx context.Context, b body, part []byte) (received, error) {
	got := received{mimeType: typeOf(part[:sniffBytes], b.declared, b.name), pieces: true}
	id, err := in.store.CreateMultipart(ctx, b.key, got.mimeType)
	if err != nil {
		return received{}, storeError(err)
	}
	sum := sha256.New()
	parts, size, err := in.sendParts(ctx, b, id, part, sum)
	if err == nil {
		got.object, err = in.store.CompleteMultipart(ctx, b.key, id, parts)
		err = storeError(err)
	}
	if err != nil {
		in.abort(ctx, b.key, id)
		return received{}, err
	}
	got.object.Size, got.sha256 = size, hex.EncodeToString(sum.Sum(nil))
	return got, nil
}

// sendParts sends the part that is there, and all that follow in the same memory.
func (in *intake) sendParts(ctx context.Context, b body, id string, part []byte, sum hash.Hash) ([]s3.Part, int64, error) {
	var parts []s3.Part
	var size int64
	filled := len(part)
	for last := false; filled > 0; {
		if size += int64(filled); size > b.limit {
			return nil, 0, b.overrun(size)
		}
		if len(parts) == s3.MaxParts {
			return nil, 0, Errorf(FileTooBig, "files uploaded this way have at most %d bytes", size-int64(filled))
		}
		sum.Write(part[:filled])
		done, err := in.store.PutPart(ctx, b.key, id, len(parts)+1, bytes.NewReader(part[:filled]), int64(filled))
		if err != nil {
			return nil, 0, storeError(err)
		}
		parts = append(parts, done)
		if last {
			break
		}
		filled, err = io.ReadFull(b, part)
		if last = ended(err); err != nil && !last {
			return nil, 0, err
		}
	}
	return parts, size, nil
}

// abort forgets the parts, even if the client has gone.
func (in *intake) abort(ctx context.Context, key, id string) {
	ctx, cancel := detached(ctx)
	defer cancel()
	_ = in.store.AbortMultipart(ctx, key, id) // the sweep does it again
}

// drainLimit is how much of a body that is refused is read for its size alone.
const drainLimit = 64 << 20

// overrun reads on to the end of a body of which size bytes were read already.
func (b body) overrun(size int64) error {
	more, err := io.Copy(io.Discard, io.LimitReader(b, drainLimit))
	if err != nil {
		return err
	}
	if more == drainLimit {
		return Errorf(FileTooBig, "file too big").With("filename", b.name).With("maxSize", b.limit)
	}
	return &tooLongError{size: size + more}
}
