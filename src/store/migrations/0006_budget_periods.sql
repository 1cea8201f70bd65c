ALTER TABLE `budget_groups` ADD `budget_period` text;--> statement-breakpoint
ALTER TABLE `budget_groups` ADD `budget_since` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `budget_groups` ADD `budget_resets_at` integer;--> statement-breakpoint
ALTER TABLE `budget_groups` ADD `spent_total_usd` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `budget_groups` ADD `spent_total_nano` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `virtual_keys` ADD `budget_period` text;--> statement-breakpoint
ALTER TABLE `virtual_keys` ADD `budget_since` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `virtual_keys` ADD `budget_resets_at` integer;--> statement-breakpoint
ALTER TABLE `virtual_keys` ADD `spent_total_usd` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `virtual_keys` ADD `spent_total_nano` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
UPDATE `budget_groups` SET `spent_total_usd` = `budget_spent_usd`, `spent_total_nano` = `budget_spent_nano`;--> statement-breakpoint
UPDATE `virtual_keys` SET `spent_total_usd` = `budget_spent_usd`, `spent_total_nano` = `budget_spent_nano`;
