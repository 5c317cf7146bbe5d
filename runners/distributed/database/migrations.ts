/** One step of the schema. Steps are run once, in order, each in a transaction; what has been released never changes. */
export interface Migration {
  /** From 1, without gaps: the schema's version after it. */
  readonly version: number;
  /** What the step adds, for people. */
  readonly name: string;
  readonly sql: string;
}

/**
 * Runs, their rows, money and gates, and the workers. JSON is kept as text, in columns of type `json`: numbers, the order of
 * keys and `\\u0000` stay as they were.
 *
 * A row: open → sent → accepted → ended; where a worker saves pictures: … → saving → ended. `sent`: its intent is committed,
 * and no answer is. `left`: nothing was sent that has no answer, and this start does not do it. `attempt` counts its POSTs
 * over all starts; whatever a work item writes names the attempt it belongs to.
 */
const runsAndRows = `
create table millrace.runs (
  run        int generated always as identity primary key,
  key        text not null unique,
  terms      json not null,
  starts     int not null default 1,
  fed_all    boolean not null default false,
  stop       json,
  -- Endpoints that the service does not know, with what it said.
  blocked    json not null default '{}',
  created_at timestamptz not null default now(),
  started_at timestamptz not null default now()
);

-- One row a run: whoever changes what a run owes or holds locks it first. Money in millionths of a dollar.
create table millrace.ledgers (
  run       int primary key references millrace.runs on delete cascade,
  cap       bigint,
  reserved  bigint not null default 0 check (reserved >= 0),
  spent     bigint not null default 0 check (spent >= 0),
  unknown   bigint not null default 0 check (unknown >= 0),
  open      int not null default 0 check (open >= 0),
  in_flight int not null default 0 check (in_flight >= 0),
  saving    int not null default 0 check (saving >= 0),
  ended     int not null default 0 check (ended >= 0),
  outcomes  bigint not null default 0,
  concurrency int not null
) with (fillfactor = 50);

-- Highest prices that the service has reported.
create table millrace.prices (
  run        int not null references millrace.runs on delete cascade,
  kind       text not null,
  endpoint   text not null,
  resolution text not null,
  highest    bigint not null,
  primary key (run, kind, endpoint, resolution)
);

-- The rate and the pause that all workers of a run share.
create table millrace.gates (
  run          int primary key references millrace.runs on delete cascade,
  rate         double precision,
  heard_at     timestamptz not null default '-infinity',
  next_at      timestamptz not null default '-infinity',
  paused_until timestamptz not null default '-infinity',
  why          text not null default 'backoff',
  recovering   boolean not null default false,
  probe_until  timestamptz not null default '-infinity',
  pauses       int not null default 0
) with (fillfactor = 50);

create table millrace.rows (
  run          int not null references millrace.runs on delete cascade,
  id           text not null,
  -- Names its pieces in the queues: never more than one of a kind.
  piece        uuid not null default gen_random_uuid(),
  facts        json not null,
  brief        json not null,
  state        text not null check (state in ('open', 'left', 'sent', 'accepted', 'saving', 'ended')),
  attempt      int not null default 0,
  -- Provable refusals since it was last taken up, and POSTs that followed a doubt.
  refusals     int not null default 0,
  doubles      int not null default 0,
  -- By the price book, and what is reserved while it is in flight; null: not known.
  listed       bigint,
  price        bigint,
  -- Nothing is bought by it: its job was bought elsewhere.
  takes        boolean not null default false,
  job_id       json,
  -- An id that came when the row had ended as unknown.
  late_job_id  json,
  submitted_at timestamptz,
  -- Who sends it or saves its picture.
  worker       uuid,
  reply        json,
  ending       json,
  -- Where its ending stands among those of the run.
  seq          bigint,
  primary key (run, id),
  constraint one_outcome check ((state = 'ended') = (seq is not null) and (seq is null) = (ending is null)),
  constraint sent_by_somebody check (state <> 'sent' or worker is not null),
  constraint accepted_by_id check (state <> 'accepted' or job_id is not null)
) with (fillfactor = 80);
create unique index rows_by_piece on millrace.rows (piece);
create unique index rows_ended on millrace.rows (run, seq) where seq is not null;
create index rows_held_by on millrace.rows (worker) where worker is not null;

-- Purchases that ended in doubt, of rows that were sent again all the same.
create table millrace.doubles (
  run          int not null references millrace.runs on delete cascade,
  seq          bigint not null,
  id           text not null,
  facts        json not null,
  attempt      int not null,
  price        bigint,
  submitted_at timestamptz,
  ending       json not null,
  primary key (run, seq)
);

create table millrace.workers (
  worker     uuid primary key,
  host       text not null,
  pid        int not null,
  does       json not null,
  started_at timestamptz not null default now(),
  seen_at    timestamptz not null default now()
) with (fillfactor = 50);
`;

/**
 * Which row of a run has which job, by the first half of the SHA-256 of endpoint and job id: no two rows have the same one.
 * Filled from the existing rows, except for ids that PostgreSQL's own JSON reader may not be able to read.
 */
export const jobsOfRows = `
create table millrace.jobs (
  run  int not null references millrace.runs on delete cascade,
  hash uuid not null,
  id   text not null,
  primary key (run, hash)
);
insert into millrace.jobs (run, hash, id)
  select run, substring(encode(sha256(convert_to((brief->>'endpoint') || E'\\n' || (job_id #>> '{}'), 'UTF8')), 'hex') for 32)::uuid, id
  from millrace.rows
  where job_id is not null and job_id::text !~ '\\\\' and brief::text !~ '\\\\' order by run, submitted_at
  on conflict do nothing;
`;

/** All steps, oldest first. They fill the schema `millrace`, which exists when the first one begins. */
export const migrations: readonly Migration[] = [
  { version: 1, name: 'runs and rows', sql: runsAndRows },
  { version: 2, name: 'jobs of rows', sql: jobsOfRows },
];
