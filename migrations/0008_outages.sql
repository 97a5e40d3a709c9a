ALTER TABLE `runs` ADD `outage` text;--> statement-breakpoint
ALTER TABLE `runs` ADD `outage_due_at` integer;--> statement-breakpoint
CREATE INDEX `runs_outage` ON `runs` (`outage_due_at`) WHERE "runs"."outage_due_at" is not null;