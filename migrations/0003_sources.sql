ALTER TABLE `releases` ADD `notes_digest` text;--> statement-breakpoint
ALTER TABLE `releases` ADD `notes_error` text;--> statement-breakpoint
ALTER TABLE `releases` ADD `app_version` text;--> statement-breakpoint
ALTER TABLE `releases` ADD `is_deprecated` integer DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE `releases` ADD `source_revision` text;--> statement-breakpoint
ALTER TABLE `releases` ADD `labelled_version` text;--> statement-breakpoint
ALTER TABLE `tracker_channels` ADD `requires_agreement` integer DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE `tracker_sources` ADD `moved_to` text;--> statement-breakpoint
ALTER TABLE `trackers` ADD `release_notes` text DEFAULT '{"source":"release"}' NOT NULL;