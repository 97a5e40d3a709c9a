CREATE TABLE `outage_notices` (
	`id` text PRIMARY KEY NOT NULL,
	`cause` text NOT NULL,
	`subject` text NOT NULL,
	`lasted_ms` integer NOT NULL,
	`counted_since` integer NOT NULL,
	`outage` text
);
--> statement-breakpoint
CREATE UNIQUE INDEX `outage_notices_subject` ON `outage_notices` (`cause`,`subject`);