CREATE TABLE `source_memos` (
	`source_id` text PRIMARY KEY NOT NULL,
	`memo` text NOT NULL,
	FOREIGN KEY (`source_id`) REFERENCES `tracker_sources`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
INSERT INTO `source_memos` (`source_id`, `memo`) SELECT `id`, `memo` FROM `tracker_sources` WHERE `memo` IS NOT NULL;--> statement-breakpoint
ALTER TABLE `tracker_sources` DROP COLUMN `memo`;