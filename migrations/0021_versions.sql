CREATE TABLE `seen_versions` (
	`id` text PRIMARY KEY NOT NULL,
	`executor_id` text NOT NULL,
	`service` text NOT NULL,
	`reference` text,
	`digest` text,
	`tag` text,
	`cause` text NOT NULL,
	`run_id` text,
	`from_at` integer NOT NULL,
	FOREIGN KEY (`executor_id`) REFERENCES `executors`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `seen_versions_service` ON `seen_versions` (`executor_id`,`service`);