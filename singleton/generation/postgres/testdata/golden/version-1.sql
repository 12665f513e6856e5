DO $understudy$ BEGIN
CREATE TABLE "golden"."version 1" (
	label text COLLATE "C" PRIMARY KEY,
	term  bigint NOT NULL CHECK (term BETWEEN 0 AND 4294967295),
	seq   bigint NOT NULL CHECK (seq BETWEEN 0 AND 4294967295),
	owner text COLLATE "C",
	spec  bytea
);
COMMENT ON TABLE "golden"."version 1" IS 'understudy, version 1';
EXCEPTION WHEN duplicate_table THEN NULL;
END $understudy$;
INSERT INTO "golden"."version 1" (label, term, seq, owner, spec) VALUES
	('singleton/one', 7, 2, 'node-1', '\x73706563'),
	('singleton/two', 4, 0, NULL, NULL);
