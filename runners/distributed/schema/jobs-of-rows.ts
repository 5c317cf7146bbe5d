/**
 * Which row of a run has which job, by the first half of the SHA-256 of endpoint and job id: no two rows have one. Filled with what rows
 * hold, but for ids that PostgreSQL's own JSON may not be able to read.
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
