CREATE TABLE `refused_requests` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`ts` integer NOT NULL,
	`request_id` text NOT NULL,
	`key_id` text,
	`group_id` text,
	`api` text NOT NULL,
	`stream` integer NOT NULL,
	`model` text,
	`status` integer NOT NULL,
	`error_code` text,
	`failure` text,
	`latency_ms` integer NOT NULL,
	`count` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `refused_requests_ts` ON `refused_requests` (`ts`);--> statement-breakpoint
ALTER TABLE `usage_log` ADD `failure` text;--> statement-breakpoint
CREATE INDEX `usage_log_failed` ON `usage_log` (`id`) WHERE status >= 400;