ALTER TABLE `budget_groups` ADD `models` text;--> statement-breakpoint
ALTER TABLE `virtual_keys` ADD `models` text;