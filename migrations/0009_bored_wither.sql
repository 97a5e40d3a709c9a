DROP INDEX `runs_executor`;--> statement-breakpoint
CREATE INDEX `runs_executor` ON `runs` (`executor_id`);