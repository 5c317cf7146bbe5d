/** The version of the tables. Change it with them: the versions before 19 were those of 0.1.0, and of no release. */
export const tablesVersion = 19;

/**
 * Runs, their journals and budgets, their rows in progress, and the workers. JSON is kept as text, so that numbers, the
 * order of keys and `\\u0000` stay as they were. Money in micro-dollars.
 */
export const tables = `
create table millrace.runs (
  run        int generated always as identity primary key,
  key        text not null unique,
  terms      text not null,
  start      int not null default 0,
  stop       text,
  -- Endpoints that the service does not know, with what it said.
  blocked    text not null default '{}',
  -- Prices that the service reported and that are higher than those of the terms.
  prices     text not null default '[]',
  started_at timestamptz not null default now(),
  -- What signs the addresses that the service calls back, as JSON; null: no start had callbacks.
  webhooks   text,
  -- Where the latest start has begun; null: that is not known.
  timeline   text
);

-- One row a run. A transaction that writes records, or takes or gives back rows, locks it first: so the order of records is that
-- of the commits, and the budget is exact.
create table millrace.ledgers (
  run         int primary key references millrace.runs on delete cascade,
  seq         bigint not null default 0,
  -- Batches of rows that the collector of this start has fed.
  fed         int not null default 0,
  cap         bigint,
  reserved    bigint not null default 0 check (reserved >= 0),
  spent       bigint not null default 0,
  unknown     bigint not null default 0,
  -- Rows that no worker has; rows that workers have, and of these the ones that were only polled from the beginning.
  waiting     int not null default 0 check (waiting >= 0),
  -- Of the rows that wait, those whose job is polled.
  to_poll     int not null default 0 check (to_poll >= 0),
  in_flight   int not null default 0 check (in_flight >= 0),
  polled      int not null default 0 check (polled >= 0),
  concurrency int not null default 1,
  -- Caps of the values of columns: by column, in USD; null: there are none.
  value_caps  text,
  -- What rows whose price is in no list have cost in this start, and how much that may be; null: there is no limit.
  unlisted    bigint not null default 0,
  agreed      bigint
) with (fillfactor = 50);

-- What is reserved, spent and unknown for a value of the column at this place among those that have caps. A transaction that changes it
-- has locked the run's ledger. The value is JSON: text of PostgreSQL holds no NUL.
create table millrace.value_ledgers (
  run     int not null references millrace.runs on delete cascade,
  place   int not null,
  value   text not null,
  taken   bigint not null default 0,
  -- How many rows were left for it in this start.
  refused int not null default 0,
  primary key (run, place, value)
) with (fillfactor = 50);
create index value_ledgers_refused on millrace.value_ledgers (run) where refused > 0;

create table millrace.records (
  run    int not null references millrace.runs on delete cascade,
  seq    bigint not null,
  -- The row that it belongs to.
  item   uuid not null,
  -- The row has left the database with it.
  is_last boolean not null,
  record text not null,
  primary key (run, seq)
);

-- The rows that are on their way. A row that has ended is deleted. A claim changes all rows of a page at once: space kept free on it
-- for their changes would be used too late.
create table millrace.rows (
  run      int not null references millrace.runs on delete cascade,
  -- Its name in the queue.
  item     uuid not null,
  task     text not null,
  place    text not null check (place in ('send', 'poll')),
  -- Its part of the budget. It stays with the row, whoever has it.
  reserved bigint not null default 0,
  -- Its records have higher numbers.
  since    bigint not null,
  worker   uuid,
  primary key (run, item)
);

create table millrace.workers (
  worker     uuid primary key,
  host       text not null,
  pid        int not null,
  does       text not null,
  started_at timestamptz not null default now(),
  seen_at    timestamptz not null default now()
) with (fillfactor = 50);

-- A worker at work on a run. A worker that is taken for dead loses its seat, and can write nothing more.
create table millrace.seats (
  run        int not null references millrace.runs on delete cascade,
  worker     uuid not null,
  -- The last group of records that was committed, and the number of its first record.
  groups     bigint not null default 0,
  first      bigint not null default 0,
  -- It would take more rows than there was room for; and it has less than its share of the slots, as the others have them.
  is_hungry  boolean not null default false,
  is_starved boolean not null default false,
  primary key (run, worker)
) with (fillfactor = 50);

-- Why workers have given their rows of a start back.
create table millrace.troubles (
  run    int not null references millrace.runs on delete cascade,
  worker uuid not null,
  cause  text not null,
  primary key (run, worker)
);

-- Which row of a run has which job, by the first half of the SHA-256 of endpoint and job id: no two rows have the same one.
create table millrace.jobs (
  run  int not null references millrace.runs on delete cascade,
  hash uuid not null,
  id   text not null,
  primary key (run, hash)
);

-- Callbacks about rows that the process they came to does not have, until the one that has the row has taken them in; and job ids that
-- arrived after their worker had been taken for dead. "id" and "job_id" are JSON.
create table millrace.callbacks (
  run     int not null references millrace.runs on delete cascade,
  -- Of all that it says: the first half of a SHA-256.
  digest  uuid not null,
  id      text not null,
  -- The POST whose address was called.
  attempt int not null,
  job_id  text not null,
  body    text not null,
  primary key (run, digest)
);
-- Names of rows are long in places, and a btree refuses long texts.
create index callbacks_id on millrace.callbacks using hash (id);

-- The rate and the pause that all workers of a run share.
create table millrace.gates (
  run          int primary key references millrace.runs on delete cascade,
  rate         double precision,
  next_at      timestamptz not null default now(),
  -- When a turn was last taken.
  taken_at     timestamptz not null default now(),
  paused_until timestamptz not null default now()
) with (fillfactor = 50);

-- Whether the database was restored from a backup, or a standby took its place: it may lack commits then. With the rights of its owner:
-- a start and a worker of other rights would see two databases in one.
create function millrace.timeline() returns text language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  if pg_is_in_recovery() then return null; end if;
  return (select system_identifier from pg_control_system()) || ' ' || left(pg_walfile_name(pg_current_wal_insert_lsn()), 8) || ' '
    || (select oid from pg_database where datname = current_database()) || ' ' || 'millrace.records'::regclass::oid;
exception when feature_not_supported or insufficient_privilege or undefined_function or object_not_in_prerequisite_state then
  -- Some hosted databases lack these functions.
  return (select oid from pg_database where datname = current_database()) || ' ' || 'millrace.records'::regclass::oid;
end
$$;
grant execute on function millrace.timeline() to public;

-- Somebody says by "timeline = null" that the database lacks nothing: this is about the database as it is now, and not about a later one.
create function millrace.note_timeline() returns trigger language plpgsql as $$
begin
  new.timeline := millrace.timeline();
  return new;
end
$$;
create trigger note_timeline before update of timeline on millrace.runs
  for each row when (new.timeline is null) execute function millrace.note_timeline();
`;
