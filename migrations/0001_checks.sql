DROP INDEX `response_cache_used_at`;--> statement-breakpoint
ALTER TABLE `response_cache` ADD `headers` text DEFAULT '{}' NOT NULL;--> statement-breakpoint
ALTER TABLE `response_cache` ADD `size_bytes` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
CREATE INDEX `response_cache_used_at` ON `response_cache` (`used_at`,`size_bytes`);--> statement-breakpoint
ALTER TABLE `tracker_channels` ADD `baseline_at` integer;--> statement-breakpoint
ALTER TABLE `tracker_sources` ADD `host` text DEFAULT '' NOT NULL;--> statement-breakpoint
ALTER TABLE `tracker_sources` ADD `check_requested_at` integer;--> statement-breakpoint
CREATE INDEX `tracker_sources_requested` ON `tracker_sources` (`check_requested_at`) WHERE "tracker_sources"."check_requested_at" is not null;--> statement-breakpoint
CREATE INDEX `events_tracker` ON `events` (`tracker_id`,`created_at`);--> statement-breakpoint
ALTER TABLE `releases` DROP COLUMN `last_observed_at`;