ALTER TABLE `usage_log` ADD `tier` text;--> statement-breakpoint
ALTER TABLE `usage_log` ADD `geo` text;--> statement-breakpoint
ALTER TABLE `usage_log` ADD `cache_write_long_tokens` integer;--> statement-breakpoint
ALTER TABLE `usage_log` ADD `audio_tokens_in` integer;--> statement-breakpoint
ALTER TABLE `usage_log` ADD `audio_tokens_out` integer;--> statement-breakpoint
ALTER TABLE `usage_log` ADD `image_tokens_in` integer;--> statement-breakpoint
ALTER TABLE `usage_log` ADD `image_tokens_out` integer;--> statement-breakpoint
ALTER TABLE `usage_log` ADD `tool_calls` text;--> statement-breakpoint
ALTER TABLE `usage_log` ADD `cost_source` text;--> statement-breakpoint
ALTER TABLE `usage_log` ADD `cost_reported_usd` integer;--> statement-breakpoint
ALTER TABLE `usage_log` ADD `cost_reported_nano` integer;