package metadata_test

import (
	"io"
	"io/fs"
	"slices"
	"strings"
	"testing"

	metadata "hasura-storage/hasura-metadata"
)

func projects(t *testing.T) map[string]fs.FS {
	t.Helper()
	starter, err := metadata.WithStarter()
	if err != nil {
		t.Fatal(err)
	}
	return map[string]fs.FS{"plain": metadata.Project(), "starter": starter}
}

func roles(list []permission) string {
	names := make([]string, 0, len(list))
	for _, p := range list {
		names = append(names, p.Role)
	}
	return strings.Join(names, ",")
}

func TestTheProjectGivesNoRoleAnything(t *testing.T) {
	for _, a := range readActions(t, metadata.Project()).Actions {
		if len(a.Permissions) > 0 {
			t.Errorf("%s may be called by %s", a.Name, roles(a.Permissions))
		}
	}
	for name, one := range readTables(t, metadata.Project()) {
		if len(one.Insert)+len(one.Select)+len(one.Update)+len(one.Delete) > 0 {
			t.Errorf("%s has permissions", name)
		}
	}
}

func TestTheStarterGivesUsersTheirOwnFilesAndThePublicDownloads(t *testing.T) {
	starter := projects(t)["starter"]
	for _, a := range readActions(t, starter).Actions {
		want := "user"
		if strings.HasPrefix(a.Name, "storageDownload") {
			want = "public,user"
		}
		if got := roles(a.Permissions); got != want {
			t.Errorf("%s may be called by %q, want %q", a.Name, got, want)
		}
	}
	files := readTables(t, starter)["files"]
	if len(files.Insert) != 1 || files.Insert[0].Permission.Set["uploaded_by_user_id"] != "x-hasura-user-id" {
		t.Errorf("insert: %v", files.Insert)
	}
	for _, facts := range [][]tablePermission{files.Insert, files.Update} {
		for _, column := range []string{"is_uploaded", "etag", "object_key", "sha256", "uploaded_by_user_id"} {
			if slices.Contains(facts[0].Permission.Columns, column) {
				t.Errorf("a user may set %s", column)
			}
		}
	}
	if len(files.EventTriggers) != 2 || files.Configuration.CustomName != "files" {
		t.Error("merging the starter lost a part of the table")
	}
}

func TestTheStarterIsAFolderLikeAnyOther(t *testing.T) {
	sub, err := fs.Sub(projects(t)["starter"], "metadata")
	if err != nil {
		t.Fatal(err)
	}
	f, err := sub.Open("databases/default/tables/storage_files.yaml")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(f)
	if err != nil || int64(len(b)) != info.Size() || info.Name() != "storage_files.yaml" || info.IsDir() {
		t.Errorf("%d bytes of %s, %d in all, err %v", len(b), info.Name(), info.Size(), err)
	}
	if _, err := sub.Open("absent.yaml"); err == nil {
		t.Error("an absent file opens")
	}
}
