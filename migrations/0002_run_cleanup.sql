ALTER TABLE `runs` ADD `ready_ms` integer;--> statement-breakpoint
ALTER TABLE `runs` ADD `cleanup_due_at` integer;--> statement-breakpoint
CREATE INDEX `runs_cleanup` ON `runs` (`cleanup_due_at`) WHERE "runs"."cleanup_due_at" is not null;