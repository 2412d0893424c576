package s3

import (
	"net/http"
	"net/url"
	"strings"
)

// transport is how requests travel: watched, if somebody watches.
func (o Options) transport() http.RoundTripper {
	if o.Watch == nil {
		return newTransport()
	}
	return watched{RoundTripper: newTransport(), bucket: o.Bucket, watch: o.Watch}
}

// watched tells of each request on its way.
type watched struct {
	http.RoundTripper
	bucket string
	watch  func(string, *http.Request) func(*http.Response, error)
}

func (w watched) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context()) // headers are added to it, and requests are not ours to change
	ended := w.watch(api(r, w.bucket), r)
	answer, err := w.RoundTripper.RoundTrip(r)
	ended(answer, err)
	return answer, err
}

// api is the name that S3 gives to what r asks for; "other" is what the library
// asks of somebody else, such as a machine's credentials.
func api(r *http.Request, bucket string) string {
	if !strings.HasPrefix(r.Header.Get("Authorization"), "AWS4-") {
		return "other"
	}
	ofObject := strings.Trim(strings.TrimPrefix(r.URL.Path, "/"+bucket), "/") != ""
	if name := apis[call{r.Method, ofObject, detail(r)}]; name != "" {
		return name
	}
	return "other"
}

// call is what tells S3's operations apart.
type call struct {
	method   string
	ofObject bool
	detail   string // the query's decisive parameter
}

var apis = map[call]string{
	{http.MethodGet, true, ""}:               "GetObject",
	{http.MethodHead, true, ""}:              "HeadObject",
	{http.MethodPut, true, ""}:               "PutObject",
	{http.MethodPut, true, "copy"}:           "CopyObject",
	{http.MethodDelete, true, ""}:            "DeleteObject",
	{http.MethodPost, true, "uploads"}:       "CreateMultipartUpload",
	{http.MethodPut, true, "uploadId"}:       "UploadPart",
	{http.MethodPut, true, "uploadId, copy"}: "UploadPartCopy",
	{http.MethodGet, true, "uploadId"}:       "ListParts",
	{http.MethodPost, true, "uploadId"}:      "CompleteMultipartUpload",
	{http.MethodDelete, true, "uploadId"}:    "AbortMultipartUpload",
	{http.MethodHead, false, ""}:             "HeadBucket",
	{http.MethodPut, false, ""}:              "CreateBucket",
	{http.MethodPost, false, "delete"}:       "DeleteObjects",
	{http.MethodGet, false, "uploads"}:       "ListMultipartUploads",
	{http.MethodGet, false, "list-type"}:     "ListObjectsV2",
}

func detail(r *http.Request) string {
	found := decisive(r.URL.Query())
	if r.Header.Get("X-Amz-Copy-Source") == "" {
		return found
	}
	return strings.TrimPrefix(found+", copy", ", ")
}

func decisive(query url.Values) string {
	for _, name := range []string{"uploadId", "uploads", "delete", "list-type"} {
		if query.Has(name) {
			return name
		}
	}
	return ""
}
