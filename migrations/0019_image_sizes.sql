ALTER TABLE `releases` ADD `size_bytes` integer;--> statement-breakpoint
ALTER TABLE `releases` ADD `size_platform` text;