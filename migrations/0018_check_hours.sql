CREATE TABLE `check_hours` (
	`starts_at` integer NOT NULL,
	`host` text NOT NULL,
	`succeeded` integer DEFAULT 0 NOT NULL,
	`failed` integer DEFAULT 0 NOT NULL,
	`requests` integer DEFAULT 0 NOT NULL,
	PRIMARY KEY(`starts_at`, `host`)
);
