CREATE TABLE `administrators` (
	`id` text PRIMARY KEY NOT NULL,
	`singleton` integer DEFAULT 1 NOT NULL,
	`username` text NOT NULL,
	`password_hash` text NOT NULL,
	`is_password_change_required` integer NOT NULL,
	`session_epoch` integer DEFAULT 1 NOT NULL,
	`password_changed_at` integer,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	CONSTRAINT "administrators_one" CHECK("administrators"."singleton" = 1)
);
--> statement-breakpoint
CREATE UNIQUE INDEX `administrators_singleton` ON `administrators` (`singleton`);--> statement-breakpoint
CREATE TABLE `audit_entries` (
	`id` text PRIMARY KEY NOT NULL,
	`event` text NOT NULL,
	`outcome` text NOT NULL,
	`actor` text,
	`address` text,
	`request_id` text,
	`subject_kind` text,
	`subject_id` text,
	`subject_name` text,
	`detail` text NOT NULL,
	`at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `audit_entries_at` ON `audit_entries` (`at`);--> statement-breakpoint
CREATE INDEX `audit_entries_event` ON `audit_entries` (`event`,`at`);--> statement-breakpoint
CREATE TABLE `connections` (
	`id` text PRIMARY KEY NOT NULL,
	`name` text NOT NULL,
	`kind` text NOT NULL,
	`description` text DEFAULT '' NOT NULL,
	`is_enabled` integer DEFAULT true NOT NULL,
	`config` text NOT NULL,
	`credential_id` text,
	`last_checked_at` integer,
	`last_check` text,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	FOREIGN KEY (`credential_id`) REFERENCES `credentials`(`id`) ON UPDATE no action ON DELETE restrict
);
--> statement-breakpoint
CREATE UNIQUE INDEX `connections_name` ON `connections` (`name`);--> statement-breakpoint
CREATE INDEX `connections_credential` ON `connections` (`credential_id`);--> statement-breakpoint
CREATE TABLE `credentials` (
	`id` text PRIMARY KEY NOT NULL,
	`name` text NOT NULL,
	`kind` text NOT NULL,
	`description` text DEFAULT '' NOT NULL,
	`sealed_secret` text NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `credentials_name` ON `credentials` (`name`);--> statement-breakpoint
CREATE TABLE `deliveries` (
	`id` text PRIMARY KEY NOT NULL,
	`notifier_id` text NOT NULL,
	`event_id` text,
	`event` text NOT NULL,
	`body` text NOT NULL,
	`state` text NOT NULL,
	`attempt_count` integer DEFAULT 0 NOT NULL,
	`next_attempt_at` integer,
	`lease_owner` text,
	`lease_until` integer,
	`last_status` integer,
	`last_error` text,
	`created_at` integer NOT NULL,
	`ended_at` integer,
	FOREIGN KEY (`notifier_id`) REFERENCES `notifiers`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`event_id`) REFERENCES `events`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `deliveries_due` ON `deliveries` (`next_attempt_at`) WHERE "deliveries"."state" = 'pending';--> statement-breakpoint
CREATE INDEX `deliveries_notifier` ON `deliveries` (`notifier_id`,`created_at`);--> statement-breakpoint
CREATE UNIQUE INDEX `deliveries_once` ON `deliveries` (`notifier_id`,`event_id`);--> statement-breakpoint
CREATE TABLE `delivery_attempts` (
	`delivery_id` text NOT NULL,
	`attempt` integer NOT NULL,
	`status` integer,
	`error` text,
	`duration_ms` integer NOT NULL,
	`at` integer NOT NULL,
	PRIMARY KEY(`delivery_id`, `attempt`),
	FOREIGN KEY (`delivery_id`) REFERENCES `deliveries`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE TABLE `events` (
	`id` text PRIMARY KEY NOT NULL,
	`kind` text NOT NULL,
	`tracker_id` text,
	`executor_id` text,
	`run_id` text,
	`facts` text NOT NULL,
	`created_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `events_created` ON `events` (`created_at`);--> statement-breakpoint
CREATE UNIQUE INDEX `events_run` ON `events` (`run_id`) WHERE "events"."run_id" is not null;--> statement-breakpoint
CREATE TABLE `executor_bindings` (
	`executor_id` text NOT NULL,
	`service` text NOT NULL,
	`tracker_id` text NOT NULL,
	`source_id` text NOT NULL,
	`channel` text NOT NULL,
	PRIMARY KEY(`executor_id`, `service`),
	FOREIGN KEY (`executor_id`) REFERENCES `executors`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`tracker_id`) REFERENCES `trackers`(`id`) ON UPDATE no action ON DELETE restrict,
	FOREIGN KEY (`source_id`) REFERENCES `tracker_sources`(`id`) ON UPDATE no action ON DELETE restrict
);
--> statement-breakpoint
CREATE INDEX `executor_bindings_tracker` ON `executor_bindings` (`tracker_id`);--> statement-breakpoint
CREATE INDEX `executor_bindings_source` ON `executor_bindings` (`source_id`);--> statement-breakpoint
CREATE TABLE `executors` (
	`id` text PRIMARY KEY NOT NULL,
	`name` text NOT NULL,
	`description` text DEFAULT '' NOT NULL,
	`is_enabled` integer DEFAULT true NOT NULL,
	`connection_id` text NOT NULL,
	`target_kind` text NOT NULL,
	`target_id` text NOT NULL,
	`trigger` text NOT NULL,
	`window` text,
	`image_selection` text NOT NULL,
	`reference_mode` text NOT NULL,
	`health_check` text NOT NULL,
	`restore_on_failure` integer NOT NULL,
	`allow_downgrade` integer DEFAULT false NOT NULL,
	`minimum_age_hours` integer DEFAULT 0 NOT NULL,
	`next_evaluation_at` integer,
	`lease_owner` text,
	`lease_until` integer,
	`observed` text,
	`observed_at` integer,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	FOREIGN KEY (`connection_id`) REFERENCES `connections`(`id`) ON UPDATE no action ON DELETE restrict
);
--> statement-breakpoint
CREATE UNIQUE INDEX `executors_name` ON `executors` (`name`);--> statement-breakpoint
CREATE UNIQUE INDEX `executors_target` ON `executors` (`connection_id`,`target_kind`,`target_id`);--> statement-breakpoint
CREATE INDEX `executors_due` ON `executors` (`next_evaluation_at`);--> statement-breakpoint
CREATE TABLE `installation` (
	`key` text PRIMARY KEY NOT NULL,
	`value` text NOT NULL
);
--> statement-breakpoint
CREATE TABLE `notifiers` (
	`id` text PRIMARY KEY NOT NULL,
	`name` text NOT NULL,
	`kind` text NOT NULL,
	`description` text DEFAULT '' NOT NULL,
	`is_enabled` integer DEFAULT true NOT NULL,
	`language` text NOT NULL,
	`trigger_events` text NOT NULL,
	`sealed_config` text NOT NULL,
	`destination` text NOT NULL,
	`stopped_at` integer,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `notifiers_name` ON `notifiers` (`name`);--> statement-breakpoint
CREATE TABLE `rate_limits` (
	`key` text PRIMARY KEY NOT NULL,
	`state` text NOT NULL,
	`updated_at` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `releases` (
	`id` text PRIMARY KEY NOT NULL,
	`source_id` text NOT NULL,
	`version` text NOT NULL,
	`tag` text NOT NULL,
	`stage` text NOT NULL,
	`revision` text,
	`previous_revision` text,
	`published_at` integer,
	`first_observed_at` integer NOT NULL,
	`last_observed_at` integer NOT NULL,
	`republished_at` integer,
	`url` text,
	`notes` text,
	FOREIGN KEY (`source_id`) REFERENCES `tracker_sources`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `releases_tag` ON `releases` (`source_id`,`tag`);--> statement-breakpoint
CREATE INDEX `releases_observed` ON `releases` (`source_id`,`first_observed_at`);--> statement-breakpoint
CREATE TABLE `response_cache` (
	`key` text PRIMARY KEY NOT NULL,
	`etag` text,
	`last_modified` text,
	`content_type` text,
	`body` text NOT NULL,
	`used_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `response_cache_used_at` ON `response_cache` (`used_at`);--> statement-breakpoint
CREATE TABLE `run_steps` (
	`run_id` text NOT NULL,
	`seq` integer NOT NULL,
	`step` text NOT NULL,
	`phase` text NOT NULL,
	`facts` text NOT NULL,
	`at` integer NOT NULL,
	PRIMARY KEY(`run_id`, `seq`),
	FOREIGN KEY (`run_id`) REFERENCES `runs`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE TABLE `runs` (
	`id` text PRIMARY KEY NOT NULL,
	`executor_id` text NOT NULL,
	`kind` text NOT NULL,
	`state` text NOT NULL,
	`trigger` text NOT NULL,
	`attempt` integer DEFAULT 1 NOT NULL,
	`reason_code` text,
	`reason` text,
	`plan` text,
	`plan_hash` text,
	`expected_plan_hash` text,
	`desired_revision` text,
	`from_tag` text,
	`from_digest` text,
	`to_tag` text,
	`to_digest` text,
	`snapshot_id` text,
	`ignore_window` integer DEFAULT false NOT NULL,
	`serving` text,
	`downtime_ms` integer,
	`progress` text,
	`due_at` integer NOT NULL,
	`lease_owner` text,
	`lease_until` integer,
	`created_at` integer NOT NULL,
	`started_at` integer,
	`ended_at` integer,
	FOREIGN KEY (`executor_id`) REFERENCES `executors`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `runs_one_active` ON `runs` (`executor_id`) WHERE "runs"."state" in ('pending', 'capturing', 'updating', 'verifying');--> statement-breakpoint
CREATE UNIQUE INDEX `runs_once_per_revision` ON `runs` (`executor_id`,`desired_revision`,`attempt`) WHERE "runs"."trigger" <> 'manual' and "runs"."kind" = 'update';--> statement-breakpoint
CREATE INDEX `runs_executor` ON `runs` (`executor_id`,`created_at`);--> statement-breakpoint
CREATE INDEX `runs_created` ON `runs` (`created_at`);--> statement-breakpoint
CREATE INDEX `runs_active` ON `runs` (`due_at`) WHERE "runs"."state" in ('pending', 'capturing', 'updating', 'verifying');--> statement-breakpoint
CREATE TABLE `sessions` (
	`id` text PRIMARY KEY NOT NULL,
	`kind` text NOT NULL,
	`administrator_id` text NOT NULL,
	`epoch` integer NOT NULL,
	`name` text,
	`scope` text DEFAULT 'full' NOT NULL,
	`address` text,
	`user_agent` text,
	`created_at` integer NOT NULL,
	`last_seen_at` integer NOT NULL,
	`expires_at` integer NOT NULL,
	`revoked_at` integer,
	FOREIGN KEY (`administrator_id`) REFERENCES `administrators`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `sessions_expires_at` ON `sessions` (`expires_at`);--> statement-breakpoint
CREATE INDEX `sessions_kind` ON `sessions` (`kind`,`created_at`);--> statement-breakpoint
CREATE TABLE `settings` (
	`key` text PRIMARY KEY NOT NULL,
	`value` text NOT NULL,
	`updated_at` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `snapshots` (
	`id` text PRIMARY KEY NOT NULL,
	`executor_id` text NOT NULL,
	`run_id` text,
	`sealed_content` text NOT NULL,
	`reference` text NOT NULL,
	`digest` text,
	`image_id` text NOT NULL,
	`size_bytes` integer NOT NULL,
	`is_locked` integer DEFAULT false NOT NULL,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`executor_id`) REFERENCES `executors`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `snapshots_executor` ON `snapshots` (`executor_id`,`created_at`);--> statement-breakpoint
CREATE TABLE `tracker_channels` (
	`id` text PRIMARY KEY NOT NULL,
	`source_id` text NOT NULL,
	`type` text NOT NULL,
	`position` integer NOT NULL,
	`release_type` text,
	`include_pattern` text DEFAULT '' NOT NULL,
	`exclude_pattern` text DEFAULT '' NOT NULL,
	`latest_release_id` text,
	`latest_revision` text,
	FOREIGN KEY (`source_id`) REFERENCES `tracker_sources`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`latest_release_id`) REFERENCES `releases`(`id`) ON UPDATE no action ON DELETE set null
);
--> statement-breakpoint
CREATE UNIQUE INDEX `tracker_channels_type` ON `tracker_channels` (`source_id`,`type`);--> statement-breakpoint
CREATE TABLE `tracker_sources` (
	`id` text PRIMARY KEY NOT NULL,
	`tracker_id` text NOT NULL,
	`key` text NOT NULL,
	`position` integer NOT NULL,
	`kind` text NOT NULL,
	`config` text NOT NULL,
	`credential_id` text,
	`next_check_at` integer NOT NULL,
	`lease_owner` text,
	`lease_until` integer,
	`baseline_at` integer,
	`last_checked_at` integer,
	`last_success_at` integer,
	`last_error_code` text,
	`last_error_message` text,
	`failing_since` integer,
	`last_request_count` integer,
	`last_byte_count` integer,
	`last_duration_ms` integer,
	`upstream_total` integer,
	`rotation` integer DEFAULT 0 NOT NULL,
	`memo` text,
	FOREIGN KEY (`tracker_id`) REFERENCES `trackers`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`credential_id`) REFERENCES `credentials`(`id`) ON UPDATE no action ON DELETE restrict
);
--> statement-breakpoint
CREATE UNIQUE INDEX `tracker_sources_key` ON `tracker_sources` (`tracker_id`,`key`);--> statement-breakpoint
CREATE INDEX `tracker_sources_due` ON `tracker_sources` (`next_check_at`);--> statement-breakpoint
CREATE INDEX `tracker_sources_credential` ON `tracker_sources` (`credential_id`);--> statement-breakpoint
CREATE TABLE `trackers` (
	`id` text PRIMARY KEY NOT NULL,
	`name` text NOT NULL,
	`description` text DEFAULT '' NOT NULL,
	`is_enabled` integer DEFAULT true NOT NULL,
	`check_interval_minutes` integer NOT NULL,
	`fetch_depth` integer NOT NULL,
	`request_timeout_seconds` integer NOT NULL,
	`sorting` text NOT NULL,
	`release_fallback` integer DEFAULT false NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `trackers_name` ON `trackers` (`name`);