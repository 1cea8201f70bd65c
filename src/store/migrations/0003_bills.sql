CREATE TABLE `prices` (
	`id` text PRIMARY KEY NOT NULL,
	`prices` text NOT NULL
);
--> statement-breakpoint
ALTER TABLE `budget_groups` ADD `priority` text;--> statement-breakpoint
ALTER TABLE `usage_log` ADD `bill` text;--> statement-breakpoint
ALTER TABLE `usage_log` ADD `queued_ms` integer;--> statement-breakpoint
ALTER TABLE `virtual_keys` ADD `priority` text;