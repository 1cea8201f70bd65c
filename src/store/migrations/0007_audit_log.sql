CREATE TABLE `audit_log` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`ts` integer NOT NULL,
	`action` text NOT NULL,
	`subject_id` text,
	`request_id` text,
	`client` text
);
--> statement-breakpoint
CREATE INDEX `audit_log_ts` ON `audit_log` (`ts`);