package actions

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"runtime"
	"time"

	"go.uber.org/zap"

	"hasura-storage/actions/images"
	"hasura-storage/graphql"
	"hasura-storage/s3"
)

const (
	defaultVariantCache = 64 << 20
	defaultImageMemory  = 256 << 20
	defaultImageQueue   = 256
	variantLimit        = time.Minute      // of one transform, queueing included
	keepLimit           = 10 * time.Second // of storing its result, and again of looking after it
)

// variants make pictures of files and keep them: in memory for a while, in the
// store until their version is gone. One transform runs for a variant, however
// many ask for it at the same time.
type variants struct {
	hasura *graphql.Client
	store  *s3.Store
	log    *zap.Logger
	keys   keys

	limits  images.Limits
	memory  int64        // bytes that transforms may use together
	pool    *images.Pool // of that memory
	slow    *images.Pool // what of it animations may use
	sources *images.Pool // memory of the files that they read
	cache   *cache
	flights *flights
	watch   func(context.Context) func(error)
}

func newVariants(s *Storage, o Options) *variants {
	o.VariantCache = cmp.Or(o.VariantCache, defaultVariantCache)
	o.ImageMemory = cmp.Or(o.ImageMemory, defaultImageMemory)
	o.ImageQueue = cmp.Or(o.ImageQueue, defaultImageQueue)
	if o.ImageLimits == (images.Limits{}) {
		o.ImageLimits = images.DefaultLimits()
	}
	return &variants{
		hasura: s.hasura, store: s.store, log: s.log, keys: s.keys,
		limits: o.ImageLimits, memory: o.ImageMemory, pool: images.NewPool(o.ImageMemory, o.ImageQueue),
		slow:    images.NewPool(o.ImageMemory/2, o.ImageQueue),
		sources: images.NewPool(max(o.ImageMemory/4, o.ImageLimits.MaxSourceBytes), o.ImageQueue),
		cache:   newCache(o.VariantCache, s.now), flights: newFlights(s.background, variantLimit),
		watch: o.WatchTransform,
	}
}

// source names one version of a file and the object that holds it. The ETag is
// "" where the key tells the version, the size 0 where no row was read.
type source struct {
	id, version, key string
	etag             string
	size             int64
}

// look asks the store for the object, which must still be this version.
func (src source) look(ctx context.Context, store *s3.Store) (s3.Object, error) {
	o, err := store.Stat(ctx, src.key)
	switch {
	case gone(err), err == nil && src.etag != "" && src.etag != o.ETag:
		return s3.Object{}, errNoFile.Because(err)
	case err != nil:
		return s3.Object{}, storeError(err)
	}
	return o, nil
}

// get returns the picture that spec makes of a version.
func (v *variants) get(ctx context.Context, src source, spec images.Spec) (*picture, error) {
	key := v.keys.variant(src.id, src.version, spec.Canonical())
	if p := v.cache.get(key); p != nil {
		return p, p.err
	}
	return v.flights.do(ctx, key, func(ctx context.Context) (*picture, error) {
		p, err := v.stored(ctx, key)
		if p == nil && err == nil {
			p, err = v.make(ctx, src, spec, key)
		}
		if err != nil {
			return nil, err
		}
		v.cache.put(p)
		return p, p.err
	})
}

// stored reads a picture that was made before, or returns nil.
func (v *variants) stored(ctx context.Context, key string) (*picture, error) {
	body, o, err := v.store.Get(ctx, key, s3.GetOptions{})
	if errors.Is(err, s3.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, storeError(err)
	}
	defer body.Close()
	content := make([]byte, o.Size)
	if _, err := io.ReadFull(body, content); err != nil {
		return nil, storeError(err)
	}
	return &picture{key: key, bytes: content, contentType: o.ContentType}, nil
}

// make transforms the source and stores what came of it. A file that cannot be
// decoded is remembered as such, without being read again for each request.
func (v *variants) make(ctx context.Context, src source, spec images.Spec, key string) (*picture, error) {
	made, err := v.transform(ctx, src, spec)
	if has(err, NotAnImage, ImageTooLarge) {
		return &picture{key: key, err: err}, nil
	}
	if err != nil {
		return nil, err
	}
	if err := v.keep(ctx, src, key, made); err != nil {
		return nil, err
	}
	return &picture{key: key, bytes: made.Bytes, contentType: made.ContentType}, nil
}

// transform reads the source and makes a picture of it.
func (v *variants) transform(ctx context.Context, src source, spec images.Spec) (made images.Result, err error) {
	o := s3.Object{Key: src.key, ETag: src.etag, Size: src.size}
	if o.Size == 0 {
		if o, err = src.look(ctx, v.store); err != nil {
			return made, err
		}
	}
	if o.Size > v.limits.MaxSourceBytes {
		return made, Errorf(ImageTooLarge, "the file has %d bytes, pictures are made of at most %d", o.Size, v.limits.MaxSourceBytes)
	}
	err = v.reading(ctx, o, func(content []byte) error {
		info, err := images.Probe(content)
		if err == nil {
			err = v.limits.Admit(len(content), info, spec)
		}
		if err != nil {
			return imageError(err)
		}
		room := v.within
		if info.Animates(spec) {
			room = v.slowly
		}
		return room(ctx, images.Cost(info, spec), func() (err error) {
			made, err = v.watched(ctx, content, spec)
			return err
		})
	})
	if gone(err) {
		return made, errNoFile.Because(err)
	}
	return made, err
}

// within runs work once the bytes of memory that it may need are free.
func (v *variants) within(ctx context.Context, cost int64, work func() error) error {
	if cost > v.memory {
		return Errorf(ImageTooLarge, "the picture needs about %d MiB of memory, IMAGE_MEMORY allows %d", cost>>20, v.memory>>20)
	}
	return imageError(v.pool.Do(ctx, cost, work))
}

// slowly is within for an animation, which takes as long as many a picture: at
// once they use at most half of the memory and half of the processors, so that
// pictures need not wait for them.
func (v *variants) slowly(ctx context.Context, cost int64, work func() error) error {
	half := v.memory / 2
	share := half / int64(max(1, runtime.GOMAXPROCS(0)/2))
	return imageError(v.slow.Do(ctx, min(max(cost, share), half), func() error { return v.within(ctx, cost, work) }))
}

// reading reads a whole object of known size and hands it to use, once there is
// memory for it. Whoever has it may wait for the memory of a transform; nobody
// who has that waits for this.
func (v *variants) reading(ctx context.Context, o s3.Object, use func([]byte) error) error {
	return imageError(v.sources.Do(ctx, o.Size, func() error {
		body, _, err := v.store.Get(ctx, o.Key, s3.GetOptions{IfMatch: o.ETag})
		if err != nil {
			return storeError(err)
		}
		defer body.Close()
		content := make([]byte, o.Size)
		if _, err := io.ReadFull(body, content); err != nil {
			return storeError(err)
		}
		return use(content)
	}))
}

// keep stores a finished picture, and removes it again if its version went
// while it was made: whoever worked off the garbage may not have seen it. That
// is done whether the store answered or not, and whether anybody waits or not.
func (v *variants) keep(ctx context.Context, src source, key string, made images.Result) error {
	if int64(len(made.Bytes)) > v.limits.MaxSourceBytes {
		return nil // rather made again than read back into memory
	}
	ctx = context.WithoutCancel(ctx)
	putting, cancel := context.WithTimeout(ctx, keepLimit)
	defer cancel()
	_, failed := v.store.Put(putting, key, bytes.NewReader(made.Bytes), int64(len(made.Bytes)), made.ContentType)
	ctx, cancel = context.WithTimeout(ctx, keepLimit) // anew: a store that stands still took all of the former
	defer cancel()
	// Admin: a link is judged by its signature; here only the version matters.
	found, err := graphql.GetFiles(ctx, v.hasura.Admin(), []string{src.id})
	if err != nil {
		return hasuraError(err)
	}
	if len(found.Files) == 1 && v.keys.version(&found.Files[0]) == src.version {
		return storeError(failed)
	}
	if err := v.store.Delete(ctx, key); err != nil {
		return storeError(err)
	}
	return errNoFile
}

// forget drops a file's pictures from memory but those of the present version.
func (v *variants) forget(id, version string) {
	prefix := v.keys.variants(id)
	keep := ""
	if version != "" {
		keep = prefix + version + "/"
	}
	v.cache.forget(prefix, keep)
}

// watched transforms, and tells whoever watches.
func (v *variants) watched(ctx context.Context, content []byte, spec images.Spec) (made images.Result, err error) {
	if v.watch != nil {
		ended := v.watch(ctx)
		defer func() { ended(err) }()
	}
	return images.Transform(ctx, content, spec, v.limits)
}

// decodes reports whether the first bytes are those of a picture we can read.
func (v *variants) decodes(head []byte) bool { return images.Sniff(head).Readable() }

// facts reads width, height and placeholder of an object. A picture for which
// there is no memory, or that exceeds a limit, has no placeholder.
func (v *variants) facts(ctx context.Context, o s3.Object) (facts images.Facts, err error) {
	err = v.reading(ctx, o, func(content []byte) (err error) {
		facts, err = v.factsOf(ctx, content)
		return err
	})
	return facts, err
}

// factsOf does so for a picture that is there already.
func (v *variants) factsOf(ctx context.Context, content []byte) (images.Facts, error) {
	info, err := images.Probe(content)
	if err != nil {
		return images.Facts{}, imageError(err)
	}
	facts := images.Facts{Width: info.Width, Height: info.Height}
	err = v.within(ctx, images.Cost(info, images.Spec{Width: 32, Format: images.JPEG}), func() (err error) {
		facts, err = images.ReadFacts(ctx, content, v.limits)
		return err
	})
	if has(err, ImageTooLarge, Busy) {
		return facts, nil
	}
	return facts, err
}
