DO $understudy$ BEGIN
CREATE TABLE "golden"."version 1" (
	name       text COLLATE "C" PRIMARY KEY,
	token      bigint NOT NULL,
	holder     text COLLATE "C" NOT NULL,
	held       bigint NOT NULL,
	expires_at timestamptz NOT NULL
);
COMMENT ON TABLE "golden"."version 1" IS 'understudy, version 1';
EXCEPTION WHEN duplicate_table THEN NULL;
END $understudy$;
INSERT INTO "golden"."version 1" (name, token, holder, held, expires_at) VALUES
	('ended', 7, 'node-1/a', 7, '2026-11-25 12:30:00+00'),
	('held', 9, 'node-2/b', 8, 'infinity');
