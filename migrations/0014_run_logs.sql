CREATE TABLE `run_logs` (
	`id` text PRIMARY KEY NOT NULL,
	`run_id` text NOT NULL,
	`key` text NOT NULL,
	`pod` text NOT NULL,
	`container` text NOT NULL,
	`is_previous` integer NOT NULL,
	`sealed_lines` text NOT NULL,
	`why` text,
	`at` integer NOT NULL,
	FOREIGN KEY (`run_id`) REFERENCES `runs`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `run_logs_of_run` ON `run_logs` (`run_id`,`key`);