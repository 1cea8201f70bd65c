CREATE TABLE `gateway_lease` (
	`id` integer PRIMARY KEY NOT NULL,
	`holder` text NOT NULL,
	`process` text NOT NULL,
	`ends_at` integer NOT NULL
);
