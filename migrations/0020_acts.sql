ALTER TABLE `executors` ADD `held_since` integer;--> statement-breakpoint
ALTER TABLE `executors` ADD `snoozed_until` integer;--> statement-breakpoint
ALTER TABLE `executors` ADD `snoozed_ms` integer;--> statement-breakpoint
ALTER TABLE `executors` ADD `skipped_versions` text DEFAULT '[]' NOT NULL;--> statement-breakpoint
ALTER TABLE `executors` ADD `dismissed_run_id` text;