CREATE TABLE `change_counts` (
	`topic` text PRIMARY KEY NOT NULL,
	`count` integer NOT NULL
);
--> statement-breakpoint
INSERT INTO `change_counts` VALUES ('accounts', 0), ('provider-keys', 0), ('webhooks', 0);
--> statement-breakpoint
CREATE TRIGGER `count_created_key` AFTER INSERT ON `virtual_keys` BEGIN
	UPDATE `change_counts` SET `count` = `count` + 1 WHERE `topic` = 'accounts';
END;
--> statement-breakpoint
CREATE TRIGGER `count_changed_key` AFTER UPDATE ON `virtual_keys`
WHEN new.`spent_total_usd` = old.`spent_total_usd` AND new.`spent_total_nano` = old.`spent_total_nano` BEGIN
	UPDATE `change_counts` SET `count` = `count` + 1 WHERE `topic` = 'accounts';
END;
--> statement-breakpoint
CREATE TRIGGER `count_created_group` AFTER INSERT ON `budget_groups` BEGIN
	UPDATE `change_counts` SET `count` = `count` + 1 WHERE `topic` = 'accounts';
END;
--> statement-breakpoint
CREATE TRIGGER `count_changed_group` AFTER UPDATE ON `budget_groups`
WHEN new.`spent_total_usd` = old.`spent_total_usd` AND new.`spent_total_nano` = old.`spent_total_nano` BEGIN
	UPDATE `change_counts` SET `count` = `count` + 1 WHERE `topic` = 'accounts';
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
