ALTER TABLE `connections` ADD `place_id` text;--> statement-breakpoint
ALTER TABLE `connections` ADD `identified_at` integer;--> statement-breakpoint
ALTER TABLE `connections` ADD `has_moved` integer DEFAULT false NOT NULL;