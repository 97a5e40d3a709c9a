CREATE TABLE `__new_tracker_channels` (
	`id` text PRIMARY KEY NOT NULL,
	`source_id` text NOT NULL,
	`name` text NOT NULL,
	`type` text NOT NULL,
	`position` integer NOT NULL,
	`release_type` text,
	`include_pattern` text DEFAULT '' NOT NULL,
	`exclude_pattern` text DEFAULT '' NOT NULL,
	`requires_agreement` integer DEFAULT false NOT NULL,
	`baseline_at` integer,
	`latest_release_id` text,
	`latest_revision` text,
	FOREIGN KEY (`source_id`) REFERENCES `tracker_sources`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`latest_release_id`) REFERENCES `releases`(`id`) ON UPDATE no action ON DELETE set null
);
--> statement-breakpoint
INSERT INTO `__new_tracker_channels` (`id`, `source_id`, `name`, `type`, `position`, `release_type`, `include_pattern`, `exclude_pattern`, `requires_agreement`, `baseline_at`, `latest_release_id`, `latest_revision`) SELECT `id`, `source_id`, `type`, `type`, `position`, `release_type`, `include_pattern`, `exclude_pattern`, `requires_agreement`, `baseline_at`, `latest_release_id`, `latest_revision` FROM `tracker_channels`;--> statement-breakpoint
DROP TABLE `tracker_channels`;--> statement-breakpoint
ALTER TABLE `__new_tracker_channels` RENAME TO `tracker_channels`;--> statement-breakpoint
CREATE UNIQUE INDEX `tracker_channels_name` ON `tracker_channels` (`source_id`,`name`);
