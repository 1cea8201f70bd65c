ALTER TABLE `budget_groups` ADD `rpm_limit` integer;--> statement-breakpoint
ALTER TABLE `budget_groups` ADD `tpm_limit` integer;--> statement-breakpoint
ALTER TABLE `budget_groups` ADD `max_parallel` integer;--> statement-breakpoint
ALTER TABLE `virtual_keys` ADD `max_parallel` integer;