CREATE TABLE `budget_groups` (
	`seq` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`id` text NOT NULL,
	`name` text NOT NULL,
	`budget_max_usd` integer,
	`budget_max_nano` integer,
	`budget_spent_usd` integer DEFAULT 0 NOT NULL,
	`budget_spent_nano` integer DEFAULT 0 NOT NULL,
	`created_at` integer NOT NULL,
	`deleted_at` integer
);
--> statement-breakpoint
CREATE UNIQUE INDEX `budget_groups_id_unique` ON `budget_groups` (`id`);--> statement-breakpoint
CREATE TABLE `sealed_values` (
	`purpose` text NOT NULL,
	`name` text NOT NULL,
	`sealed` text NOT NULL,
	`updated_at` integer NOT NULL,
	PRIMARY KEY(`purpose`, `name`)
);
--> statement-breakpoint
CREATE TABLE `usage_log` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`ts` integer NOT NULL,
	`request_id` text NOT NULL,
	`key_id` text NOT NULL,
	`group_id` text,
	`model` text NOT NULL,
	`model_used` text,
	`provider` text NOT NULL,
	`capability` text NOT NULL,
	`stream` integer NOT NULL,
	`tokens_in` integer NOT NULL,
	`tokens_out` integer NOT NULL,
	`tokens_total` integer NOT NULL,
	`estimated` integer NOT NULL,
	`cached_tokens` integer NOT NULL,
	`cache_write_tokens` integer NOT NULL,
	`reasoning_tokens` integer NOT NULL,
	`search_units` integer NOT NULL,
	`media_count` integer NOT NULL,
	`media_bytes` integer NOT NULL,
	`cost_usd` integer NOT NULL,
	`cost_nano` integer NOT NULL,
	`latency_ms` integer NOT NULL,
	`ttft_ms` integer,
	`attempts` integer NOT NULL,
	`status` integer NOT NULL,
	`error_code` text,
	`metadata` text
);
--> statement-breakpoint
CREATE INDEX `usage_log_ts` ON `usage_log` (`ts`);--> statement-breakpoint
CREATE TABLE `virtual_keys` (
	`seq` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`id` text NOT NULL,
	`digest` text NOT NULL,
	`name` text NOT NULL,
	`group_id` text,
	`budget_max_usd` integer,
	`budget_max_nano` integer,
	`budget_spent_usd` integer DEFAULT 0 NOT NULL,
	`budget_spent_nano` integer DEFAULT 0 NOT NULL,
	`rpm_limit` integer,
	`tpm_limit` integer,
	`expires_at` integer,
	`disabled` integer NOT NULL,
	`created_at` integer NOT NULL,
	`deleted_at` integer,
	FOREIGN KEY (`group_id`) REFERENCES `budget_groups`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `virtual_keys_id_unique` ON `virtual_keys` (`id`);--> statement-breakpoint
CREATE UNIQUE INDEX `virtual_keys_digest_unique` ON `virtual_keys` (`digest`);--> statement-breakpoint
CREATE INDEX `virtual_keys_group_id` ON `virtual_keys` (`group_id`);--> statement-breakpoint
CREATE TABLE `webhook_settings` (
	`id` integer PRIMARY KEY NOT NULL,
	`enabled` integer NOT NULL,
	`settings` text NOT NULL,
	`updated_at` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `written_batches` (
	`id` text PRIMARY KEY NOT NULL,
	`written_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `written_batches_written_at` ON `written_batches` (`written_at`);