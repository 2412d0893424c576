package handlers_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"hasura-storage/actions"
	"hasura-storage/handlers"
)

const minioRecord = `{"eventName":"s3:ObjectCreated:Put","s3":{"bucket":{"name":"b"},"object":{"key":"files-staging%2Fa+b%2Bc"}}}`

func TestWhatTheStoreTells(t *testing.T) {
	for name, tc := range map[string]struct {
		authorization, body string
		status              int
		keys                []string
	}{
		"a record of MinIO's, its key escaped": {"Bearer hush", `{"EventName":"s3:ObjectCreated:Put","Key":"b/x","Records":[` + minioRecord + `]}`, 200, []string{"files-staging/a b+c"}},
		"a record of AWS', the secret alone":   {"hush", `{"Records":[{"eventName":"ObjectCreated:CompleteMultipartUpload","s3":{"object":{"key":"k"}}}]}`, 200, []string{"k"}},
		"EventBridge's envelope, not escaped":  {"Bearer hush", `{"version":"0","detail-type":"Object Created","source":"aws.s3","detail":{"object":{"key":"a+b%2Fc"}}}`, 200, []string{"a+b%2Fc"}},
		"an object that was removed":           {"Bearer hush", `{"Records":[{"eventName":"s3:ObjectRemoved:Delete","s3":{"object":{"key":"k"}}}]}`, 200, nil},
		"EventBridge tells of a deletion":      {"Bearer hush", `{"detail-type":"Object Deleted","detail":{"object":{"key":"k"}}}`, 200, nil},
		"AWS tries the address":                {"Bearer hush", `{"Service":"Amazon S3","Event":"s3:TestEvent"}`, 200, nil},
		"a key that cannot be read":            {"Bearer hush", `{"Records":[{"eventName":"ObjectCreated:Put","s3":{"object":{"key":"%zz"}}}]}`, 200, nil},
		"no JSON":                              {"Bearer hush", `Records`, 400, nil},
		"without the secret":                   {"", `{"Records":[` + minioRecord + `]}`, 401, nil},
		"with another secret":                  {"Bearer guess", `{"Records":[` + minioRecord + `]}`, 401, nil},
	} {
		t.Run(name, func(t *testing.T) {
			o := options()
			var told []string
			o.Notifications = handlers.Notifications{Secret: "hush", Arrived: func(_ context.Context, keys []string) (actions.Hinted, error) {
				told = append(told, keys...)
				return actions.Hinted{Completing: len(keys)}, nil
			}}
			r := httptest.NewRequest(http.MethodPost, "/s3/notifications", strings.NewReader(tc.body))
			if tc.authorization != "" {
				r.Header.Set("Authorization", tc.authorization)
			}
			w := httptest.NewRecorder()
			handlers.New(&stub{}, o).ServeHTTP(w, r)
			if w.Code != tc.status || !slices.Equal(told, tc.keys) {
				t.Errorf("status %d, told %q: %s", w.Code, told, w.Body)
			}
		})
	}
}

func TestAStoreThatIsNotExpectedIsNotHeard(t *testing.T) {
	r := httptest.NewRequest(http.MethodPost, "/s3/notifications", strings.NewReader("{}"))
	w := httptest.NewRecorder()
	handlers.New(&stub{}, options()).ServeHTTP(w, r)
	if w.Code != http.StatusNotFound {
		t.Errorf("status %d", w.Code)
	}
}
