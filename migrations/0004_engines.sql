ALTER TABLE `connections` ADD `concurrent_runs` integer DEFAULT 1 NOT NULL;--> statement-breakpoint
ALTER TABLE `executors` ADD `requires_approval` integer DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE `executors` ADD `approval_hours` integer DEFAULT 72 NOT NULL;--> statement-breakpoint
ALTER TABLE `executors` ADD `start_first` integer DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE `runs` ADD `approval` text;--> statement-breakpoint
ALTER TABLE `runs` ADD `approval_until` integer;--> statement-breakpoint
ALTER TABLE `runs` ADD `containers` text;--> statement-breakpoint
ALTER TABLE `snapshots` ADD `image_ids` text DEFAULT '[]' NOT NULL;