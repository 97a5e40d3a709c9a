CREATE TABLE `oidc_attempts` (
	`state_hash` text PRIMARY KEY NOT NULL,
	`kind` text NOT NULL,
	`provider_id` text NOT NULL,
	`provider_revision` integer NOT NULL,
	`browser_hash` text NOT NULL,
	`session_id` text,
	`sealed_secrets` text NOT NULL,
	`next` text,
	`created_at` integer NOT NULL,
	`expires_at` integer NOT NULL,
	FOREIGN KEY (`provider_id`) REFERENCES `oidc_providers`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`session_id`) REFERENCES `sessions`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `oidc_attempts_expires_at` ON `oidc_attempts` (`expires_at`);--> statement-breakpoint
CREATE TABLE `oidc_bindings` (
	`singleton` integer PRIMARY KEY DEFAULT 1 NOT NULL,
	`provider_id` text NOT NULL,
	`administrator_id` text NOT NULL,
	`issuer` text NOT NULL,
	`subject` text NOT NULL,
	`bound_at` integer NOT NULL,
	FOREIGN KEY (`provider_id`) REFERENCES `oidc_providers`(`id`) ON UPDATE no action ON DELETE restrict,
	FOREIGN KEY (`administrator_id`) REFERENCES `administrators`(`id`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "oidc_bindings_one" CHECK("oidc_bindings"."singleton" = 1)
);
--> statement-breakpoint
CREATE TABLE `oidc_providers` (
	`id` text PRIMARY KEY NOT NULL,
	`singleton` integer DEFAULT 1 NOT NULL,
	`slug` text NOT NULL,
	`display_name` text NOT NULL,
	`client_id` text NOT NULL,
	`sealed_client_secret` text NOT NULL,
	`is_discovery_enabled` integer NOT NULL,
	`issuer_url` text NOT NULL,
	`authorization_url` text,
	`token_url` text,
	`jwks_url` text,
	`userinfo_url` text,
	`scopes` text NOT NULL,
	`icon_url` text,
	`description` text NOT NULL,
	`is_enabled` integer NOT NULL,
	`revision` integer DEFAULT 1 NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	CONSTRAINT "oidc_providers_one" CHECK("oidc_providers"."singleton" = 1)
);
--> statement-breakpoint
CREATE UNIQUE INDEX `oidc_providers_singleton` ON `oidc_providers` (`singleton`);--> statement-breakpoint
ALTER TABLE `sessions` ADD `method` text DEFAULT 'password' NOT NULL;