ALTER TABLE `usage_log` ADD `api` text DEFAULT 'chat' NOT NULL;--> statement-breakpoint
UPDATE `usage_log` SET `api` = CASE `capability` WHEN 'embed' THEN 'embeddings' ELSE `capability` END WHERE `capability` <> 'chat';
