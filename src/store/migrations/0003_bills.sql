CREATE TABLE `prices` (
	`id` text PRIMARY KEY NOT NULL,
	`prices` text NOT NULL
);
--> statement-breakpoint
ALTER TABLE `usage_log` ADD `bill` text;