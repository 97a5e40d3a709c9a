ALTER TABLE `connections` ADD `seen_at` integer;--> statement-breakpoint
ALTER TABLE `connections` ADD `missed_looks` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `connections` ADD `missed_since` integer;--> statement-breakpoint
ALTER TABLE `connections` ADD `fault_code` text;--> statement-breakpoint
ALTER TABLE `connections` ADD `fault` text;--> statement-breakpoint
ALTER TABLE `connections` ADD `next_look_at` integer;--> statement-breakpoint
ALTER TABLE `connections` ADD `lease_owner` text;--> statement-breakpoint
ALTER TABLE `connections` ADD `lease_until` integer;