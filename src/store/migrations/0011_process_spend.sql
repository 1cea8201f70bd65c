CREATE TABLE `process_spend` (
	`process` text NOT NULL,
	`subject` text NOT NULL,
	`since` integer NOT NULL,
	`term_usd` integer NOT NULL,
	`term_nano` integer NOT NULL,
	`total_usd` integer NOT NULL,
	`total_nano` integer NOT NULL,
	PRIMARY KEY(`process`, `subject`)
);
--> statement-breakpoint
CREATE INDEX `process_spend_subject` ON `process_spend` (`subject`);