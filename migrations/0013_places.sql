ALTER TABLE `connections` ADD `place` text;
--> statement-breakpoint
UPDATE `connections` SET `place` = CASE
  WHEN `config` ->> '$.address' LIKE 'tcp://%' THEN rtrim(lower(`config` ->> '$.address'), '/')
  WHEN replace(`config` ->> '$.address', 'unix://', '') LIKE '/var/run/%' THEN substr(replace(`config` ->> '$.address', 'unix://', ''), 5)
  ELSE replace(`config` ->> '$.address', 'unix://', '')
END;
