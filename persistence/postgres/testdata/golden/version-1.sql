DO $understudy$
DECLARE v int;
BEGIN
PERFORM pg_advisory_xact_lock(hashtextextended('understudy ' || 'golden_schema', 0));
IF NOT EXISTS (SELECT FROM pg_namespace WHERE nspname = 'golden_schema') THEN
	CREATE SCHEMA "golden_schema";
END IF;
CREATE TABLE IF NOT EXISTS "golden_schema".understudy_journal (
	one     boolean PRIMARY KEY CHECK (one),
	version integer NOT NULL
);
SELECT coalesce(max(version), 0) INTO v FROM "golden_schema".understudy_journal;
IF v < 1 THEN
CREATE TABLE "golden_schema".understudy_entity (
	pid        text COLLATE "C" PRIMARY KEY,
	epoch      bigint NOT NULL,
	writer     bytea NOT NULL,
	seq        bigint NOT NULL,
	deleted_to bigint NOT NULL,
	crc        integer NOT NULL
) WITH (fillfactor = 50);
CREATE TABLE "golden_schema".understudy_event (
	pid     text COLLATE "C" NOT NULL,
	seq     bigint NOT NULL,
	epoch   bigint NOT NULL,
	writer  bytea NOT NULL,
	sec     bigint NOT NULL,
	nsec    integer NOT NULL,
	type    text NOT NULL,
	tags    text[] NOT NULL,
	meta    jsonb,
	payload bytea NOT NULL,
	crc     integer NOT NULL,
	slice   smallint NOT NULL,
	xid     xid8 NOT NULL,
	ord     bigint NOT NULL,
	PRIMARY KEY (pid, seq)
);
CREATE INDEX understudy_event_order ON "golden_schema".understudy_event (xid, ord);
CREATE INDEX understudy_event_tags ON "golden_schema".understudy_event USING gin (tags);
CREATE TABLE "golden_schema".understudy_snapshot (
	pid     text COLLATE "C" NOT NULL,
	seq     bigint NOT NULL,
	epoch   bigint NOT NULL,
	sec     bigint NOT NULL,
	nsec    integer NOT NULL,
	type    text NOT NULL,
	payload bytea NOT NULL,
	crc     integer NOT NULL,
	PRIMARY KEY (pid, seq)
);
CREATE TABLE "golden_schema".understudy_timer (
	pid     text COLLATE "C" NOT NULL,
	key     text COLLATE "C" NOT NULL,
	due     bigint NOT NULL,
	slice   smallint NOT NULL,
	attempt bigint NOT NULL,
	type    text NOT NULL,
	payload bytea NOT NULL,
	crc     integer NOT NULL,
	PRIMARY KEY (pid, key)
);
CREATE INDEX understudy_timer_wake ON "golden_schema".understudy_timer (due, pid, slice);
CREATE TABLE "golden_schema".understudy_reader (
	name  text COLLATE "C" PRIMARY KEY,
	first smallint NOT NULL,
	last  smallint NOT NULL,
	xid   xid8 NOT NULL,
	ord   bigint NOT NULL,
	sec   bigint NOT NULL,
	nsec  integer NOT NULL,
	crc   integer
);
END IF;
IF v < 1 THEN
	PERFORM set_config('understudy.migrated_from', v::text, true);
	INSERT INTO "golden_schema".understudy_journal VALUES (true, 1) ON CONFLICT (one) DO UPDATE SET version = 1;
END IF;
END
$understudy$;
INSERT INTO "golden_schema".understudy_entity SELECT * FROM json_populate_recordset(NULL::"golden_schema".understudy_entity, $rows$[{"pid":"account-1","epoch":8589934592,"writer":"\\x01020300000000000000000000000000","seq":3,"deleted_to":1,"crc":-354758873}, 
 {"pid":"account-2","epoch":1,"writer":"\\x01020300000000000000000000000000","seq":0,"deleted_to":0,"crc":378250144}, 
 {"pid":"account-3","epoch":1,"writer":"\\x01020300000000000000000000000000","seq":1,"deleted_to":1,"crc":-2087773980}, 
 {"pid":"account-4","epoch":2,"writer":"\\x00000000000000000000000000000000","seq":1,"deleted_to":2,"crc":1501158461}, 
 {"pid":"account-5","epoch":2,"writer":"\\x00000000000000000000000000000000","seq":0,"deleted_to":0,"crc":389668880}]$rows$);
INSERT INTO "golden_schema".understudy_event SELECT * FROM json_populate_recordset(NULL::"golden_schema".understudy_event, $rows$[{"pid":"account-1","seq":2,"epoch":1,"writer":"\\x01020300000000000000000000000000","sec":1795613400,"nsec":123456789,"type":"bank.deposited","tags":["big","größer"],"meta":null,"payload":"\\xa1616e07","crc":1337602569,"slice":150,"xid":"0","ord":1}, 
 {"pid":"account-1","seq":3,"epoch":8589934592,"writer":"\\x01020300000000000000000000000000","sec":-1,"nsec":5,"type":"bank.deposited","tags":["big"],"meta":{"trace": "t-1"},"payload":"\\xff016300","crc":-422247417,"slice":150,"xid":"0","ord":2}, 
 {"pid":"account-4","seq":0,"epoch":2,"writer":"\\x00000000000000000000000000000000","sec":1796035212,"nsec":372348662,"type":"understudy/persistence.forgotten/1","tags":[""],"meta":null,"payload":"\\x","crc":68200456,"slice":117,"xid":"0","ord":3}, 
 {"pid":"account-5","seq":0,"epoch":2,"writer":"\\x00000000000000000000000000000000","sec":1796035212,"nsec":413458445,"type":"understudy/persistence.forgotten/1","tags":[""],"meta":null,"payload":"\\x","crc":1491772879,"slice":738,"xid":"0","ord":4}]$rows$);
INSERT INTO "golden_schema".understudy_snapshot SELECT * FROM json_populate_recordset(NULL::"golden_schema".understudy_snapshot, $rows$[{"pid":"account-1","seq":2,"epoch":8589934592,"sec":1795617000,"nsec":123456789,"type":"bank.account","payload":"\\xa1616e08","crc":840230713}]$rows$);
INSERT INTO "golden_schema".understudy_timer SELECT * FROM json_populate_recordset(NULL::"golden_schema".understudy_timer, $rows$[{"pid":"account-1","key":"first","due":-9214559999999999999,"slice":150,"attempt":0,"type":"bank.due","payload":"\\xa0","crc":577335260}, 
 {"pid":"account-1","key":"größer","due":1795609800123456789,"slice":150,"attempt":1099511627776,"type":"bank.due","payload":"\\xff016300","crc":1417090504}, 
 {"pid":"account-1","key":"last","due":9214646399999999999,"slice":150,"attempt":0,"type":"bank.late","payload":"\\xa1616e09","crc":-1272205021}]$rows$);
INSERT INTO "golden_schema".understudy_reader SELECT * FROM json_populate_recordset(NULL::"golden_schema".understudy_reader, $rows$[{"name":"größer/0","first":150,"last":150,"xid":"0","ord":1,"sec":1795609800,"nsec":123456789,"crc":null}]$rows$);
