package actions_test

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"hasura-storage/actions"
	"hasura-storage/actions/images"
	"hasura-storage/actions/internal/faults"
)

// pictureLink returns a signed link to a picture of the given width.
func (s *stack) pictureLink(as actions.Session, id string, width int) string {
	s.t.Helper()
	link, err := s.service.Download(s.t.Context(), as, actions.GetDownload{ID: id, Image: &actions.Image{Width: &width}})
	if err != nil {
		s.t.Fatal(err)
	}
	return link.URL
}

// variantKeys lists the pictures at the store.
func (s *stack) variantKeys() []string {
	s.t.Helper()
	var variants []string
	for _, key := range s.keys() {
		if strings.HasPrefix(key, "files-variants/") {
			variants = append(variants, key)
		}
	}
	return variants
}

// delete deletes a file's row and works off what the event of that reports.
func (s *stack) delete(as actions.Session, id string) {
	s.t.Helper()
	s.graphql(as, `mutation($id: uuid!) { deleteFile(id: $id) { id } }`, map[string]any{"id": id})
	if err := s.service.FileGone(s.t.Context(), actions.FileEvent{ID: id}); err != nil {
		s.t.Error(err)
	}
}

// TestAPictureThatIsReadyTooLateVanishes lets the file go at each moment between
// the picture's last pixel and its answer.
func TestAPictureThatIsReadyTooLateVanishes(t *testing.T) {
	ends := map[string]func(s *stack, owner actions.Session, id string){
		"deleted": func(s *stack, owner actions.Session, id string) { s.delete(owner, id) },
		"replaced": func(s *stack, owner actions.Session, id string) {
			if err := s.complete(owner, s.replacing(owner, actions.ReplaceFile{ID: id}, photo(s.t, "gray.jpg"))); err != nil {
				s.t.Error(err)
			}
			if err := s.service.FileGone(s.t.Context(), actions.FileEvent{ID: id}); err != nil {
				s.t.Error(err)
			}
		},
	}
	isPicture := func(r faults.Request) bool {
		return r.Method == http.MethodPut && strings.Contains(r.Path, "/files-variants/")
	}
	for end, happens := range ends {
		for name, moment := range map[string]struct {
			fault  faults.Fault
			before bool // the store has it
			leaves bool // the client does not wait for it
		}{
			"before it is stored":                    {before: true},
			"once it is stored":                      {},
			"once it is stored, the answer is cut":   {fault: faults.Cut},
			"before it is stored, the client leaves": {before: true, leaves: true},
			"once it is stored, the client leaves":   {leaves: true},
		} {
			t.Run(end+" "+name, func(t *testing.T) {
				s := start(t)
				owner := user()
				file := s.upload(owner, "a.jpg", "image/jpeg", photo(t, "photo_03mp.jpg"))
				link := s.pictureLink(owner, file.ID, 50)
				ctx, leave := context.WithCancel(t.Context())
				defer leave()
				var once sync.Once
				it := func() {
					once.Do(func() {
						happens(s, owner, file.ID)
						if moment.leaves {
							leave()
						}
					})
				}
				s.store.Set(func(r faults.Request) (faults.Fault, func()) {
					if !isPicture(r) {
						return faults.None, nil
					}
					if moment.before {
						it()
						return moment.fault, nil
					}
					return moment.fault, it
				})
				_, err := s.openWithin(ctx, file.ID, link)
				if moment.leaves != errors.Is(err, context.Canceled) || !moment.leaves && code(err) != actions.FileNotFound {
					t.Errorf("the client got %v", err)
				}
				if err := s.service.Close(t.Context()); err != nil { // the work has ended
					t.Fatal(err)
				}
				if left := s.variantKeys(); len(left) > 0 {
					t.Errorf("left behind: %v", left)
				}
				s.holds()
			})
		}
	}
}

// TestWhoLeavesFreesHisPlace has room for one source at a time, whose reading
// takes as long as the test wants, and for one who waits.
func TestWhoLeavesFreesHisPlace(t *testing.T) {
	s := start(t)
	content := photo(t, "photo_12mp.jpg")
	s.options.ImageLimits = images.DefaultLimits()
	s.options.ImageLimits.MaxSourceBytes, s.options.ImageMemory, s.options.ImageQueue = int64(len(content)), 8<<20, 1
	if 2*int64(len(content)) <= s.options.ImageMemory/4 {
		t.Fatal("two sources fit")
	}
	s.service = s.instance()
	owner := user()
	file := s.upload(owner, "a.jpg", "image/jpeg", content)
	reading, goOn := make(chan struct{}), make(chan struct{})
	var once sync.Once
	s.store.Set(func(r faults.Request) (faults.Fault, func()) {
		if r.Method == http.MethodGet && strings.Contains(r.Path, "/files/") {
			once.Do(func() { close(reading); <-goOn })
		}
		return faults.None, nil
	})
	open := func(ctx context.Context, width int) <-chan error {
		link, done := s.pictureLink(owner, file.ID, width), make(chan error, 1)
		go func() {
			_, err := s.openWithin(ctx, file.ID, link)
			done <- err
		}()
		return done
	}
	// waiting opens until nobody else has the place any more.
	waiting := func(ctx context.Context, width int) <-chan error {
		for {
			done := open(ctx, width)
			select {
			case err := <-done:
				if code(err) != actions.Busy {
					t.Fatalf("%d got %v", width, err)
				}
			case <-time.After(300 * time.Millisecond):
				return done
			}
		}
	}
	first := open(t.Context(), 51)
	<-reading
	ctx, leave := context.WithCancel(t.Context())
	second := waiting(ctx, 52)
	if err := <-open(within(t, 10*time.Second), 53); code(err) != actions.Busy {
		t.Errorf("the third got %v", err)
	}
	leave()
	if err := <-second; !errors.Is(err, context.Canceled) {
		t.Errorf("who left got %v", err)
	}
	last := waiting(t.Context(), 54)
	close(goOn)
	for _, done := range []<-chan error{first, last} {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

func within(t *testing.T, d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), d)
	t.Cleanup(cancel)
	return ctx
}

// TestAPictureForWhichThereIsNoMemory is a file like any other, whose size is known.
func TestAPictureForWhichThereIsNoMemory(t *testing.T) {
	s := start(t)
	s.options.ImageMemory = 8 << 20
	s.service = s.instance()
	owner, content := user(), photo(t, "photo_03mp.avif")
	file := s.upload(owner, "a.avif", "image/avif", content)
	if file.Width == nil || *file.Width != 720 || *file.Height != 405 || file.Placeholder != nil {
		t.Errorf("its facts are %v x %v, %v", file.Width, file.Height, file.Placeholder)
	}
	if got, _ := s.download(owner, file.ID); !bytes.Equal(got, content) {
		t.Errorf("%d bytes of %d", len(got), len(content))
	}
	_, err := s.open(file.ID, s.pictureLink(owner, file.ID, 50))
	if code(err) != actions.ImageTooLarge || !strings.Contains(err.Error(), "MiB of memory, IMAGE_MEMORY allows 8") {
		t.Errorf("a picture of it: %v", err)
	}
}

// TestAutoMakesWhatThereIsMemoryFor asks for an AVIF that would need more than there is.
func TestAutoMakesWhatThereIsMemoryFor(t *testing.T) {
	s := start(t)
	s.options.ImageMemory = 16 << 20
	s.service = s.instance()
	owner, width := user(), 50
	file := s.upload(owner, "a.jpg", "image/jpeg", photo(t, "photo_03mp.jpg"))
	for format, want := range map[string]actions.Code{"AUTO": "", "AVIF": actions.ImageTooLarge} {
		content, err := s.service.GetFile(t.Context(), actions.Headers{"X-Hasura-Admin-Secret": {adminSecret}},
			actions.GetFile{ID: file.ID, Image: &actions.Image{Width: &width, Format: format}, Accept: "image/avif,image/webp;q=0.5"})
		if err != nil {
			t.Fatal(err)
		}
		content, err = content.Finish(t.Context(), content)
		if code(err) != want {
			t.Errorf("%s: %v", format, err)
		}
		if want == "" && (content.ContentType != "image/jpeg" || content.Disposition != `inline; filename="a.jpg"`) {
			t.Errorf("%s is %s, %s", format, content.ContentType, content.Disposition)
		}
	}
}

// overwrite does what no service of ours does: it changes the object of a file.
func (s *stack) overwrite(id string, body []byte) {
	s.t.Helper()
	key, _ := s.fileRow(id)["objectKey"].(string)
	if key == "" {
		key = "files/" + id
	}
	if _, err := s.objects.Put(s.t.Context(), key, bytes.NewReader(body), int64(len(body)), "image/jpeg"); err != nil {
		s.t.Fatal(err)
	}
}

// TestAFileIsItsVersionAlone has another program write to the object, by each
// way that the service sends bytes itself.
func TestAFileIsItsVersionAlone(t *testing.T) {
	s := start(t)
	owner := user()
	file := s.upload(owner, "a.txt", "text/plain", []byte("as it was"))
	s.options.Proxied = true
	s.service = s.instance()
	asked, err := s.service.GetFile(t.Context(), actions.Headers{"X-Hasura-Admin-Secret": {adminSecret}}, actions.GetFile{ID: file.ID})
	if err != nil {
		t.Fatal(err)
	}
	link, err := s.service.Download(t.Context(), owner, actions.GetDownload{ID: file.ID})
	if err != nil {
		t.Fatal(err)
	}
	linked, err := s.finished(t.Context(), file.ID, link.URL)
	if err != nil {
		t.Fatal(err)
	}
	s.overwrite(file.ID, []byte("other bytes"))
	for name, content := range map[string]actions.Content{"a request": asked, "a link": linked} {
		if _, err := content.Open(t.Context(), 0, 0); code(err) != actions.FileNotFound {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

// TestALinkIsToItsVersionInNhostsLayout has nhost's service replace the file,
// which it does in place.
func TestALinkIsToItsVersionInNhostsLayout(t *testing.T) {
	s := start(t)
	s.options.Proxied = true
	s.service = s.instance()
	owner := user()
	id := s.legacyFile(owner, "image/jpeg", photo(t, "photo_03mp.jpg"))
	width := 50
	var links []string
	for _, image := range []*actions.Image{nil, {Width: &width}} {
		link, err := s.service.Download(t.Context(), owner, actions.GetDownload{ID: id, Image: image})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.open(id, link.URL); err != nil {
			t.Fatal(err)
		}
		links = append(links, link.URL)
	}
	s.overwrite(id, photo(t, "gray.jpg"))
	for _, key := range s.variantKeys() { // what was made before is right for ever
		if err := s.objects.Delete(t.Context(), key); err != nil {
			t.Fatal(err)
		}
	}
	s.service = s.instance() // which has nothing in memory
	for _, link := range links {
		if _, err := s.open(id, link); code(err) != actions.FileNotFound {
			t.Errorf("got %v", err)
		}
	}
}

// TestAPictureIsMadeOfItsVersionAlone has another program write to the object.
func TestAPictureIsMadeOfItsVersionAlone(t *testing.T) {
	s := start(t)
	file := s.upload(user(), "a.jpg", "image/jpeg", photo(t, "photo_03mp.jpg"))
	s.overwrite(file.ID, photo(t, "gray.jpg"))
	width := 50
	content, err := s.service.GetFile(t.Context(), actions.Headers{"X-Hasura-Admin-Secret": {adminSecret}}, actions.GetFile{ID: file.ID, Image: &actions.Image{Width: &width}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := content.Finish(t.Context(), content); code(err) != actions.FileNotFound {
		t.Errorf("got %v", err)
	}
	if left := s.variantKeys(); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// TestAPictureWaitsForNoAnimation lets animations, more than there is memory for,
// take as long as a picture needs.
func TestAPictureWaitsForNoAnimation(t *testing.T) {
	s := start(t)
	s.options.ImageMemory = 16 << 20
	goOn := make(chan struct{})
	end := sync.OnceFunc(func() { close(goOn) })
	defer end()
	var asked atomic.Bool // for the picture
	s.options.WatchTransform = func(context.Context) func(error) {
		if !asked.Load() {
			<-goOn
		}
		return func(error) {}
	}
	s.service = s.instance()
	owner := user()
	animated := s.upload(owner, "a.gif", "image/gif", photo(t, "animated.gif"))
	still := s.upload(owner, "b.jpg", "image/jpeg", photo(t, "photo_03mp.jpg"))
	var all sync.WaitGroup
	for i := range 6 {
		link := s.pictureLink(owner, animated.ID, 50+i)
		all.Go(func() {
			if _, err := s.openWithin(t.Context(), animated.ID, link); err != nil {
				t.Error(err)
			}
		})
	}
	for ctx := within(t, 10*time.Second); s.service.Stats().ImageQueue < 3; time.Sleep(time.Millisecond) {
		if ctx.Err() != nil {
			t.Fatal("the animations do not wait for each other")
		}
	}
	asked.Store(true)
	if _, err := s.openWithin(within(t, 10*time.Second), still.ID, s.pictureLink(owner, still.ID, 50)); err != nil {
		t.Errorf("the picture: %v", err)
	}
	end()
	all.Wait()
}
