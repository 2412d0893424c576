package actions

import (
	"testing"

	"hasura-storage/graphql"
)

const someFile = "6b0e5ad2-3b0f-4c5a-9d59-0c7a5e1d7c11"

func TestKeysOfBothLayouts(t *testing.T) {
	version := newVersion()
	for name, tt := range map[string]struct {
		root, object, legacy, staging, variant string
	}{
		"below a root":   {"files", "files/" + version + "/" + someFile, "files/" + someFile, "files-staging/" + version, "files-variants/" + someFile + "/" + version + "/s"},
		"nested root":    {"a/b", "a/b/" + version + "/" + someFile, "a/b/" + someFile, "a/b-staging/" + version, "a/b-variants/" + someFile + "/" + version + "/s"},
		"without a root": {"", version + "/" + someFile, someFile, ".storage-staging/" + version, ".storage-variants/" + someFile + "/" + version + "/s"},
	} {
		t.Run(name, func(t *testing.T) {
			k := keys{root: tt.root}
			for what, got := range map[string][2]string{
				"object":  {k.object(version, someFile), tt.object},
				"legacy":  {k.of(someFile, nil), tt.legacy},
				"staging": {k.staging(version), tt.staging},
				"variant": {k.variant(someFile, version, "s"), tt.variant},
			} {
				if got[0] != got[1] {
					t.Errorf("%s: got %q, want %q", what, got[0], got[1])
				}
			}
			if got := k.variantVersion(tt.variant, someFile); got != version {
				t.Errorf("version of the variant: got %q", got)
			}
		})
	}
}

func TestOnlyKeysOfTheGrammarAreOwned(t *testing.T) {
	k := keys{root: "files"}
	version := newVersion()
	other := "7b0e5ad2-3b0f-4c5a-9d59-0c7a5e1d7c11"
	for key, want := range map[string]bool{
		"files/" + version + "/" + someFile:   true,
		"files/" + someFile:                   true,
		"files/" + version + "/" + other:      false,
		"files/" + other:                      false,
		"files2/" + someFile:                  false,
		someFile:                              false,
		"files/x/" + someFile:                 false,
		"files/../" + someFile:                false,
		"files/" + version + "/x/" + someFile: false,
		"files/" + version:                    false,
		"files-staging/" + version:            false,
		"":                                    false,
	} {
		if got := k.owns(key, someFile); got != want {
			t.Errorf("%q: got %v, want %v", key, got, want)
		}
	}
}

func TestVersionsAreNeverRepeatedAndRecognised(t *testing.T) {
	seen := map[string]bool{}
	for range 1000 {
		v := newVersion()
		if seen[v] || !isVersion(v) {
			t.Fatalf("version %q", v)
		}
		seen[v] = true
	}
	for _, v := range []string{"", "d41d8cd98f00b204e9800998ecf8427e", newVersion() + "0", "/" + newVersion()[1:]} {
		if isVersion(v) {
			t.Errorf("%q was taken for a version", v)
		}
	}
}

func TestVersionOfARow(t *testing.T) {
	k := keys{root: "files"}
	etag, version := `"9a0364b9e99bb480dd25e1f0284c8555-2"`, newVersion()
	key := k.object(version, someFile)
	if got := k.version(&graphql.File{Etag: &etag}); got != "9a0364b9e99bb480dd25e1f0284c8555-2" {
		t.Errorf("nhost's layout: got %q", got)
	}
	if got := k.version(&graphql.File{Etag: &etag, ObjectKey: &key}); got != version {
		t.Errorf("ours: got %q", got)
	}
}
