// Package images turns the bytes of one picture into the bytes of another: smaller, cut, turned, in another format. It is pure –
// bytes and a Spec in, bytes out – and knows nothing of users, files, buckets or HTTP.
//
// Start with Transform, which does all of it, and Spec, which says what is wanted. Probe reads only a header; ReadFacts gives what
// is worth keeping about a picture; Pool lets no more work run at once than memory allows.
//
// Nothing is decoded before the header has passed the Limits. The format is told by the first bytes, never by a name or a claimed
// type, and only the one decoder for it is called. A file that is cut short is refused: a part of a picture is never passed off
// as the whole. What comes out has its pixels upright and carries no EXIF, XMP or IPTC; a colour profile is carried along where
// the format can, and applied where it cannot. The same input and Spec give the same bytes, on the same architecture.
package images
