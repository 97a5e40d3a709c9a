ALTER TABLE `executors` ADD `unknown_settings` text DEFAULT '[]' NOT NULL;--> statement-breakpoint
ALTER TABLE `executors` ADD `accepted_unknown_settings` text DEFAULT '[]' NOT NULL;