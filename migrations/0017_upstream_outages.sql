CREATE TABLE `upstream_outages` (
	`id` text PRIMARY KEY NOT NULL,
	`host` text NOT NULL,
	`error_code` text NOT NULL,
	`error_message` text NOT NULL,
	`since` integer NOT NULL,
	`failures` integer NOT NULL,
	`pause_ms` integer NOT NULL,
	`next_due_at` integer NOT NULL,
	`probe_owner` text,
	`ended_at` integer
);
--> statement-breakpoint
CREATE UNIQUE INDEX `upstream_outages_open` ON `upstream_outages` (`host`) WHERE "upstream_outages"."ended_at" is null;--> statement-breakpoint
CREATE INDEX `upstream_outages_ended` ON `upstream_outages` (`ended_at`);