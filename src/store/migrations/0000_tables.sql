CREATE TABLE `audit_log` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`ts` integer NOT NULL,
	`action` text NOT NULL,
	`subject_id` text,
	`request_id` text,
	`client` text
);
--> statement-breakpoint
CREATE INDEX `audit_log_ts` ON `audit_log` (`ts`);--> statement-breakpoint
CREATE TABLE `budget_groups` (
	`seq` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`id` text NOT NULL,
	`name` text NOT NULL,
	`models` text,
	`budget_max_usd` integer,
	`budget_max_nano` integer,
	`budget_period` text,
	`budget_since` integer DEFAULT 0 NOT NULL,
	`budget_resets_at` integer,
	`budget_spent_usd` integer DEFAULT 0 NOT NULL,
	`budget_spent_nano` integer DEFAULT 0 NOT NULL,
	`spent_total_usd` integer DEFAULT 0 NOT NULL,
	`spent_total_nano` integer DEFAULT 0 NOT NULL,
	`rpm_limit` integer,
	`tpm_limit` integer,
	`max_parallel` integer,
	`created_at` integer NOT NULL,
	`deleted_at` integer
);
--> statement-breakpoint
CREATE UNIQUE INDEX `budget_groups_id_unique` ON `budget_groups` (`id`);--> statement-breakpoint
CREATE TABLE `change_counts` (
	`topic` text PRIMARY KEY NOT NULL,
	`count` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `changed_accounts` (
	`subject` text PRIMARY KEY NOT NULL,
	`count` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `changed_accounts_count` ON `changed_accounts` (`count`);--> statement-breakpoint
CREATE TABLE `gateway_lease` (
	`id` integer PRIMARY KEY NOT NULL,
	`holder` text NOT NULL,
	`process` text NOT NULL,
	`sharing` text,
	`ends_at` integer NOT NULL
);
--> statement-breakpoint
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
CREATE INDEX `process_spend_subject` ON `process_spend` (`subject`);--> statement-breakpoint
CREATE TABLE `sealed_values` (
	`purpose` text NOT NULL,
	`name` text NOT NULL,
	`sealed` text NOT NULL,
	`updated_at` integer NOT NULL,
	PRIMARY KEY(`purpose`, `name`)
);
--> statement-breakpoint
CREATE TABLE `usage_log` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`ts` integer NOT NULL,
	`request_id` text NOT NULL,
	`key_id` text NOT NULL,
	`group_id` text,
	`model` text NOT NULL,
	`model_used` text,
	`provider` text NOT NULL,
	`capability` text NOT NULL,
	`api` text NOT NULL,
	`stream` integer NOT NULL,
	`tokens_in` integer NOT NULL,
	`tokens_out` integer NOT NULL,
	`tokens_total` integer NOT NULL,
	`estimated` integer NOT NULL,
	`cached_tokens` integer NOT NULL,
	`cache_write_tokens` integer NOT NULL,
	`reasoning_tokens` integer NOT NULL,
	`search_units` integer NOT NULL,
	`media_count` integer NOT NULL,
	`media_bytes` integer NOT NULL,
	`cost_usd` integer NOT NULL,
	`cost_nano` integer NOT NULL,
	`latency_ms` integer NOT NULL,
	`ttft_ms` integer,
	`attempts` integer NOT NULL,
	`cache_hit` integer NOT NULL,
	`status` integer NOT NULL,
	`error_code` text,
	`metadata` text
);
--> statement-breakpoint
CREATE INDEX `usage_log_ts` ON `usage_log` (`ts`);--> statement-breakpoint
CREATE INDEX `usage_log_lost` ON `usage_log` (`request_id`,`key_id`) WHERE error_code = 'LM-6002';--> statement-breakpoint
CREATE TABLE `virtual_keys` (
	`seq` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`id` text NOT NULL,
	`digest` text NOT NULL,
	`former_digest` text,
	`grace_ends_at` integer,
	`name` text NOT NULL,
	`group_id` text,
	`models` text,
	`budget_max_usd` integer,
	`budget_max_nano` integer,
	`budget_period` text,
	`budget_since` integer DEFAULT 0 NOT NULL,
	`budget_resets_at` integer,
	`budget_spent_usd` integer DEFAULT 0 NOT NULL,
	`budget_spent_nano` integer DEFAULT 0 NOT NULL,
	`spent_total_usd` integer DEFAULT 0 NOT NULL,
	`spent_total_nano` integer DEFAULT 0 NOT NULL,
	`rpm_limit` integer,
	`tpm_limit` integer,
	`max_parallel` integer,
	`expires_at` integer,
	`disabled` integer NOT NULL,
	`created_at` integer NOT NULL,
	`deleted_at` integer,
	FOREIGN KEY (`group_id`) REFERENCES `budget_groups`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `virtual_keys_id_unique` ON `virtual_keys` (`id`);--> statement-breakpoint
CREATE UNIQUE INDEX `virtual_keys_digest_unique` ON `virtual_keys` (`digest`);--> statement-breakpoint
CREATE INDEX `virtual_keys_group_id` ON `virtual_keys` (`group_id`);--> statement-breakpoint
CREATE TABLE `webhook_settings` (
	`id` integer PRIMARY KEY NOT NULL,
	`enabled` integer NOT NULL,
	`settings` text NOT NULL,
	`updated_at` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `written_batches` (
	`id` text PRIMARY KEY NOT NULL,
	`written_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `written_batches_written_at` ON `written_batches` (`written_at`);--> statement-breakpoint
INSERT INTO `change_counts` VALUES ('accounts', 0), ('provider-keys', 0), ('webhooks', 0);
--> statement-breakpoint
CREATE TRIGGER `count_created_key` AFTER INSERT ON `virtual_keys` BEGIN
	UPDATE `change_counts` SET `count` = `count` + 1 WHERE `topic` = 'accounts';
	INSERT INTO `changed_accounts` SELECT new.`id`, `count` FROM `change_counts` WHERE `topic` = 'accounts'
		ON CONFLICT (`subject`) DO UPDATE SET `count` = excluded.`count`;
END;
--> statement-breakpoint
CREATE TRIGGER `count_changed_key` AFTER UPDATE ON `virtual_keys`
WHEN new.`spent_total_usd` = old.`spent_total_usd` AND new.`spent_total_nano` = old.`spent_total_nano` BEGIN
	UPDATE `change_counts` SET `count` = `count` + 1 WHERE `topic` = 'accounts';
	INSERT INTO `changed_accounts` SELECT new.`id`, `count` FROM `change_counts` WHERE `topic` = 'accounts'
		ON CONFLICT (`subject`) DO UPDATE SET `count` = excluded.`count`;
END;
--> statement-breakpoint
CREATE TRIGGER `count_created_group` AFTER INSERT ON `budget_groups` BEGIN
	UPDATE `change_counts` SET `count` = `count` + 1 WHERE `topic` = 'accounts';
	INSERT INTO `changed_accounts` SELECT new.`id`, `count` FROM `change_counts` WHERE `topic` = 'accounts'
		ON CONFLICT (`subject`) DO UPDATE SET `count` = excluded.`count`;
END;
--> statement-breakpoint
CREATE TRIGGER `count_changed_group` AFTER UPDATE ON `budget_groups`
WHEN new.`spent_total_usd` = old.`spent_total_usd` AND new.`spent_total_nano` = old.`spent_total_nano` BEGIN
	UPDATE `change_counts` SET `count` = `count` + 1 WHERE `topic` = 'accounts';
	INSERT INTO `changed_accounts` SELECT new.`id`, `count` FROM `change_counts` WHERE `topic` = 'accounts'
		ON CONFLICT (`subject`) DO UPDATE SET `count` = excluded.`count`;
END;
--> statement-breakpoint
CREATE TRIGGER `count_stored_secret` AFTER INSERT ON `sealed_values` BEGIN
	UPDATE `change_counts` SET `count` = `count` + 1 WHERE `topic` =
		CASE new.`purpose` WHEN 'provider-key' THEN 'provider-keys' WHEN 'webhook-signing-key' THEN 'webhooks' END;
END;
--> statement-breakpoint
CREATE TRIGGER `count_replaced_secret` AFTER UPDATE ON `sealed_values` BEGIN
	UPDATE `change_counts` SET `count` = `count` + 1 WHERE `topic` =
		CASE new.`purpose` WHEN 'provider-key' THEN 'provider-keys' WHEN 'webhook-signing-key' THEN 'webhooks' END;
END;
--> statement-breakpoint
CREATE TRIGGER `count_deleted_secret` AFTER DELETE ON `sealed_values` BEGIN
	UPDATE `change_counts` SET `count` = `count` + 1 WHERE `topic` =
		CASE old.`purpose` WHEN 'provider-key' THEN 'provider-keys' WHEN 'webhook-signing-key' THEN 'webhooks' END;
END;
--> statement-breakpoint
CREATE TRIGGER `count_created_webhook_settings` AFTER INSERT ON `webhook_settings` BEGIN
	UPDATE `change_counts` SET `count` = `count` + 1 WHERE `topic` = 'webhooks';
END;
--> statement-breakpoint
CREATE TRIGGER `count_changed_webhook_settings` AFTER UPDATE ON `webhook_settings` BEGIN
	UPDATE `change_counts` SET `count` = `count` + 1 WHERE `topic` = 'webhooks';
END;
