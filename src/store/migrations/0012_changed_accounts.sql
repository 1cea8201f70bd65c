CREATE TABLE `changed_accounts` (
	`subject` text PRIMARY KEY NOT NULL,
	`count` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `changed_accounts_count` ON `changed_accounts` (`count`);
--> statement-breakpoint
DROP TRIGGER `count_created_key`;
--> statement-breakpoint
CREATE TRIGGER `count_created_key` AFTER INSERT ON `virtual_keys` BEGIN
	UPDATE `change_counts` SET `count` = `count` + 1 WHERE `topic` = 'accounts';
	INSERT INTO `changed_accounts` SELECT new.`id`, `count` FROM `change_counts` WHERE `topic` = 'accounts'
		ON CONFLICT (`subject`) DO UPDATE SET `count` = excluded.`count`;
END;
--> statement-breakpoint
DROP TRIGGER `count_changed_key`;
--> statement-breakpoint
CREATE TRIGGER `count_changed_key` AFTER UPDATE ON `virtual_keys`
WHEN new.`spent_total_usd` = old.`spent_total_usd` AND new.`spent_total_nano` = old.`spent_total_nano` BEGIN
	UPDATE `change_counts` SET `count` = `count` + 1 WHERE `topic` = 'accounts';
	INSERT INTO `changed_accounts` SELECT new.`id`, `count` FROM `change_counts` WHERE `topic` = 'accounts'
		ON CONFLICT (`subject`) DO UPDATE SET `count` = excluded.`count`;
END;
--> statement-breakpoint
DROP TRIGGER `count_created_group`;
--> statement-breakpoint
CREATE TRIGGER `count_created_group` AFTER INSERT ON `budget_groups` BEGIN
	UPDATE `change_counts` SET `count` = `count` + 1 WHERE `topic` = 'accounts';
	INSERT INTO `changed_accounts` SELECT new.`id`, `count` FROM `change_counts` WHERE `topic` = 'accounts'
		ON CONFLICT (`subject`) DO UPDATE SET `count` = excluded.`count`;
END;
--> statement-breakpoint
DROP TRIGGER `count_changed_group`;
--> statement-breakpoint
CREATE TRIGGER `count_changed_group` AFTER UPDATE ON `budget_groups`
WHEN new.`spent_total_usd` = old.`spent_total_usd` AND new.`spent_total_nano` = old.`spent_total_nano` BEGIN
	UPDATE `change_counts` SET `count` = `count` + 1 WHERE `topic` = 'accounts';
	INSERT INTO `changed_accounts` SELECT new.`id`, `count` FROM `change_counts` WHERE `topic` = 'accounts'
		ON CONFLICT (`subject`) DO UPDATE SET `count` = excluded.`count`;
END;