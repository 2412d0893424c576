package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"sync"

	"github.com/gofiber/fiber/v3"
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
	files, err := posix.New(filepath.Join(set.dir, bucketsName), meta.XattrMeta{}, posix.PosixOpts{
		VersioningDir:       filepath.Join(set.dir, versionsName), // else buckets cannot be versioned
		CopyObjectThreshold: copyThreshold,
		ValidateBucketNames: true,
	})
	if err != nil {
		return fmt.Errorf("data folder %s: %w", set.dir, err)
	}
	return embedgw.RunVersityGW(ctx, guarded{files}, &embedgw.Config{
		RootUserAccess: set.accessKey, RootUserSecret: set.secretKey, Region: set.region,
		Ports: []string{set.addr}, MaxConnections: 10_000, MaxRequests: 10_000, MultipartMaxParts: 10_000,
		// Browsers may upload from any page; buckets can narrow it.
		CORSAllowOrigin: "*",
		Quiet:           true, KeepAlive: true,
		IAMService: oneAccount{auth.NewIAMServiceSingle(auth.Account{
			Access: set.accessKey, Secret: set.secretKey, Role: auth.RoleAdmin,
		})},
		S3Options: []s3api.Option{
			s3api.WithRoute(http.MethodGet, healthPath, health),
			s3api.WithMiddleware("/", tidy),
			s3api.WithOnListen(func() { go announce(set.addr, stdout) }),
		},
	})
}

const healthPath = "/healthz"

var configure sync.Once

// health answers 200. Its first call also sets an option of the HTTP server
// that the gateway does not offer: bodies of the type multipart/form-data,
// which some mobile clients send with a presigned PUT, are otherwise taken
// apart, and stored in other bytes or refused with a 500.
func health(c fiber.Ctx) error {
	configure.Do(func() { c.App().Server().DisablePreParseMultipartForm = true })
	return c.SendStatus(http.StatusOK)
}

// announce makes the first request itself, before anybody else knows of the
// server.
func announce(addr string, stdout io.Writer) {
	answer, err := http.Get("http://" + addr + healthPath)
	if err != nil {
		fmt.Fprintln(os.Stderr, "devs3:", err)
		return
	}
	answer.Body.Close()
	fmt.Fprintln(stdout, "listening on", addr)
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
