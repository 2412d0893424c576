package service

import (
	"context"
	"fmt"
	"time"

	"go.uber.org/zap"

	"hasura-storage/cmd/hasura-storage/migrate"
	"hasura-storage/cmd/hasura-storage/project"
)

// preparePatience is how long the database and Hasura may take to come up. After
// it the program ends, and whoever runs it starts it anew.
const preparePatience = 5 * time.Minute

// prepare does what the environment asks for before there is anything to
// serve: the database's schema first, since Hasura can only track tables that
// are there. Being told to stop meanwhile is no error.
func (c *config) prepare(ctx context.Context, log *zap.Logger) error {
	migrated, err := c.migrateDatabase(ctx, log)
	if err != nil {
		err = fmt.Errorf("POSTGRES_MIGRATIONS: %w", err)
	} else if err = c.applyProject(ctx, log, migrated); err != nil {
		err = fmt.Errorf("HASURA_METADATA: %w", err)
	}
	if ctx.Err() != nil {
		err = nil
	}
	return err
}

// migrateDatabase reports whether there was anything to change.
func (c *config) migrateDatabase(ctx context.Context, log *zap.Logger) (bool, error) {
	if !c.migrate {
		return false, nil
	}
	steps, err := migrate.Up(ctx, migrate.Options{Source: c.migrationsSource.reveal(), Patience: preparePatience, Log: log})
	return steps > 0, err
}

func (c *config) applyProject(ctx context.Context, log *zap.Logger, reload bool) error {
	if !c.applyMetadata {
		return nil
	}
	report, err := project.Apply(ctx, project.Options{
		Endpoint: c.hasuraEndpoint, AdminSecret: c.adminSecret.reveal(), Source: c.databaseName,
		Services: !c.webhookSecret.missing(), Reload: reload, Patience: preparePatience, Log: log,
	})
	for _, change := range report.Done {
		log.Info("changed Hasura's metadata", zap.String("change", change))
	}
	for _, remark := range report.Remarks {
		log.Warn("Hasura's metadata was left as it is", zap.String("remark", remark))
	}
	for _, complaint := range report.Unusable {
		log.Warn("Hasura cannot use a part of its metadata", zap.String("complaint", complaint))
	}
	if report.Missing != "" {
		log.Warn(report.Missing)
	}
	return err
}
