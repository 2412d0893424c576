package main

import (
	"context"
	"fmt"
	"io"
	"path/filepath"

	"github.com/versity/versitygw/auth"
	"github.com/versity/versitygw/backend/meta"
	"github.com/versity/versitygw/backend/posix"
	"github.com/versity/versitygw/embedgw"
	"github.com/versity/versitygw/s3api"
)

// copyThreshold must be said: the option promises 5 GiB as its default but is
// 0, and then every copy is refused.
const copyThreshold = 5 << 30

// serve runs the gateway until ctx ends. posix.New changes the process's
// working directory, so there is one gateway to a process.
func serve(ctx context.Context, set settings, stdout io.Writer) error {
	dir, err := filepath.Abs(set.dir)
	if err != nil {
		return err
	}
	files, err := posix.New(filepath.Join(dir, bucketsName), meta.XattrMeta{}, posix.PosixOpts{
		VersioningDir:       filepath.Join(dir, versionsName), // else buckets cannot be versioned
		CopyObjectThreshold: copyThreshold,
		ValidateBucketNames: true,
	})
	if err != nil {
		return fmt.Errorf("data folder %s: %w", dir, err)
	}
	return embedgw.RunVersityGW(ctx, guarded{files}, &embedgw.Config{
		RootUserAccess: set.accessKey, RootUserSecret: set.secretKey, Region: set.region,
		Ports: []string{set.addr}, MaxConnections: 10_000, MaxRequests: 10_000, MultipartMaxParts: 10_000,
		// Browsers may upload from any page; buckets can narrow it.
		CORSAllowOrigin: "*",
		Quiet:           true, KeepAlive: true, HealthPath: "/healthz",
		IAMService: oneAccount{auth.NewIAMServiceSingle(auth.Account{
			Access: set.accessKey, Secret: set.secretKey, Role: auth.RoleAdmin,
		})},
		S3Options: []s3api.Option{
			s3api.WithMiddleware("/", tidy),
			s3api.WithOnListen(func() { fmt.Fprintln(stdout, "listening on", set.addr) }),
		},
	})
}

// oneAccount answers unknown access keys as S3 does. The gateway's own service
// for a single account returns an error of the admin API, which becomes a 404.
type oneAccount struct{ auth.IAMService }

func (o oneAccount) GetUserAccount(access string) (auth.Account, error) {
	account, err := o.IAMService.GetUserAccount(access)
	if err != nil {
		return auth.Account{}, auth.ErrNoSuchUser
	}
	return account, nil
}
