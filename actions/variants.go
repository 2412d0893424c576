package actions

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
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
	variantLimit        = time.Minute // of one transform, queueing included
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
	pool    *images.Pool // memory of transforms
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
		limits: o.ImageLimits, pool: images.NewPool(o.ImageMemory, o.ImageQueue),
		sources: images.NewPool(max(o.ImageMemory/4, o.ImageLimits.MaxSourceBytes), o.ImageQueue),
		cache:   newCache(o.VariantCache, s.now), flights: newFlights(s.background, variantLimit),
		watch: o.WatchTransform,
	}
}

// source names one version of a file and the object that holds it.
type source struct{ id, version, key string }

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
	o, err := v.store.Stat(ctx, src.key)
	if errors.Is(err, s3.ErrNotFound) {
		return made, errNoFile
	}
	if err != nil {
		return made, storeError(err)
	}
	if o.Size > v.limits.MaxSourceBytes {
		return made, Errorf(ImageTooLarge, "the file has %d bytes, pictures are made of at most %d", o.Size, v.limits.MaxSourceBytes)
	}
	err = v.reading(ctx, o, func(content []byte) error {
		info, err := images.Probe(content)
		if err != nil {
			return imageError(err)
		}
		return imageError(v.pool.Do(ctx, images.Cost(info, spec), func() (err error) {
			made, err = v.watched(ctx, content, spec)
			return err
		}))
	})
	if errors.Is(err, s3.ErrNotFound) { // it went since
		return made, errNoFile.Because(err)
	}
	return made, err
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
// while it was made: whoever worked off the garbage may not have seen it.
func (v *variants) keep(ctx context.Context, src source, key string, made images.Result) error {
	if int64(len(made.Bytes)) > v.limits.MaxSourceBytes {
		return nil // rather made again than read back into memory
	}
	if _, err := v.store.Put(ctx, key, bytes.NewReader(made.Bytes), int64(len(made.Bytes)), made.ContentType); err != nil {
		return storeError(err)
	}
	// Admin: a link is judged by its signature; here only the version matters.
	found, err := graphql.GetFiles(ctx, v.hasura.Admin(), []string{src.id})
	if err != nil {
		return hasuraError(err)
	}
	if len(found.Files) == 1 && v.keys.version(&found.Files[0]) == src.version {
		return nil
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

// facts reads width, height and placeholder of an object.
func (v *variants) facts(ctx context.Context, o s3.Object) (facts images.Facts, err error) {
	err = v.reading(ctx, o, func(content []byte) (err error) {
		facts, err = v.factsOf(ctx, content)
		return err
	})
	return facts, err
}

// factsOf does so for a picture that is there already.
func (v *variants) factsOf(ctx context.Context, content []byte) (images.Facts, error) {
	var facts images.Facts
	info, err := images.Probe(content)
	if err != nil {
		return facts, err
	}
	err = v.pool.Do(ctx, images.Cost(info, images.Spec{Width: 32}), func() (err error) {
		facts, err = images.ReadFacts(ctx, content, v.limits)
		return err
	})
	return facts, err
}
