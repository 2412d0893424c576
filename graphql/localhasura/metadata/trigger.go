package metadata

import "encoding/json"

// EventTrigger posts changes of a table's rows to a webhook.
type EventTrigger struct {
	Name                 string            `json:"name"`
	Definition           TriggerOperations `json:"definition"`
	RetryConf            RetryConf         `json:"retry_conf"`
	Webhook              string            `json:"webhook,omitempty"`
	WebhookFromEnv       string            `json:"webhook_from_env,omitempty"`
	Headers              []Header          `json:"headers,omitempty"`
	RequestTransform     json.RawMessage   `json:"request_transform,omitempty"`
	ResponseTransform    json.RawMessage   `json:"response_transform,omitempty"`
	CleanupConfig        json.RawMessage   `json:"cleanup_config,omitempty"`
	TriggerOnReplication *bool             `json:"trigger_on_replication,omitempty"`
}

// TriggerOperations are the operations that an event trigger listens to; a
// nil one is not listened to.
type TriggerOperations struct {
	EnableManual bool           `json:"enable_manual"`
	Insert       *OperationSpec `json:"insert,omitempty"`
	Update       *OperationSpec `json:"update,omitempty"`
	Delete       *OperationSpec `json:"delete,omitempty"`
}

// OperationSpec names the columns whose change is listened to (for updates)
// and those that stand in the event. A nil Payload means all columns.
type OperationSpec struct {
	Columns Columns  `json:"columns"`
	Payload *Columns `json:"payload,omitempty"`
}

// Defaults of retries, for event and cron triggers alike unless said.
const (
	DefaultIntervalSec  = 10
	DefaultTimeoutSec   = 60
	DefaultToleranceSec = 21600 // cron triggers only
)

// RetryConf of an event trigger; intervals and time limits in seconds.
type RetryConf struct {
	NumRetries  int `json:"num_retries"`
	IntervalSec int `json:"interval_sec"`
	TimeoutSec  int `json:"timeout_sec"`
}

// UnmarshalJSON fills in Hasura's defaults.
func (c *RetryConf) UnmarshalJSON(raw []byte) error {
	type plain RetryConf
	p := plain{IntervalSec: DefaultIntervalSec, TimeoutSec: DefaultTimeoutSec}
	err := json.Unmarshal(raw, &p)
	*c = RetryConf(p)
	return err
}

// UnmarshalJSON fills in the retry defaults when retry_conf is absent.
func (t *EventTrigger) UnmarshalJSON(raw []byte) error {
	type plain EventTrigger
	p := plain{RetryConf: RetryConf{IntervalSec: DefaultIntervalSec, TimeoutSec: DefaultTimeoutSec}}
	err := json.Unmarshal(raw, &p)
	*t = EventTrigger(p)
	return err
}

// CronTrigger posts to a webhook at the times of Schedule, a cron line of
// five fields in UTC.
type CronTrigger struct {
	Name              string          `json:"name"`
	Webhook           string          `json:"webhook"`
	Schedule          string          `json:"schedule"`
	IncludeInMetadata bool            `json:"include_in_metadata"`
	Payload           json.RawMessage `json:"payload,omitempty"`
	RetryConf         *CronRetryConf  `json:"retry_conf,omitempty"`
	Headers           []Header        `json:"headers,omitempty"`
	Comment           *string         `json:"comment,omitempty"`
	RequestTransform  json.RawMessage `json:"request_transform,omitempty"`
	ResponseTransform json.RawMessage `json:"response_transform,omitempty"`
}

// CronRetryConf of a cron trigger; all but the number in seconds. An event
// older than the tolerance is not delivered any more.
type CronRetryConf struct {
	NumRetries           int `json:"num_retries"`
	RetryIntervalSeconds int `json:"retry_interval_seconds"`
	TimeoutSeconds       int `json:"timeout_seconds"`
	ToleranceSeconds     int `json:"tolerance_seconds"`
}

// UnmarshalJSON fills in Hasura's defaults.
func (c *CronRetryConf) UnmarshalJSON(raw []byte) error {
	type plain CronRetryConf
	p := plain(defaultCronRetry)
	err := json.Unmarshal(raw, &p)
	*c = CronRetryConf(p)
	return err
}

var defaultCronRetry = CronRetryConf{
	RetryIntervalSeconds: DefaultIntervalSec,
	TimeoutSeconds:       DefaultTimeoutSec,
	ToleranceSeconds:     DefaultToleranceSec,
}

// Retry is the retry configuration with defaults filled in.
func (t *CronTrigger) Retry() CronRetryConf {
	if t.RetryConf == nil {
		return defaultCronRetry
	}
	return *t.RetryConf
}
