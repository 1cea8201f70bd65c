ALTER TABLE `virtual_keys` ADD `former_digest` text;--> statement-breakpoint
ALTER TABLE `virtual_keys` ADD `grace_ends_at` integer;