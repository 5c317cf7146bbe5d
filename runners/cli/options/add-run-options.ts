import type { Command } from 'commander';

/** Declares the options that `run` and `plan` share, in the groups in which the help shows them. Values are checked later. */
export function addRunOptions(command: Command): Command {
  addServiceOptions(command);
  addManifestOptions(command);
  addPaceOptions(command);
  addDecisionOptions(command);
  return command
    .optionsGroup('What is printed:')
    .option('--quiet', 'only what needs a person')
    .option('--json', 'the result as one JSON object on stdout, everything else on stderr');
}

function addServiceOptions(command: Command): void {
  command
    .optionsGroup('Where rows go:')
    .option('--endpoint <ID>', 'queue or image-edit endpoint; the column "endpoint" of a row wins')
    .option('--base-url <URL>', 'host of the queue API (env MILLRACE_BASE_URL)')
    .option('--lb-base-url <URL>', 'host of the routes (env MILLRACE_LB_BASE_URL)')
    .option('--api-key-file <FILE>', 'file with the API key (else env MILLRACE_API_KEY)')
    .option('--images-base <URL>', 'where pictures lie that rows name by path: sent as URLs below it')
    .option(
      '--upload <S3URL>',
      'upload pictures that rows name by path: s3://bucket/prefix, with AWS credentials',
    )
    .option(
      '--upload-endpoint <URL>',
      'host of an S3-compatible store (env AWS_ENDPOINT_URL_S3; default: AWS)',
    )
    .option('--local', 'start the emulator in this process and use it: nothing is bought');
  addEmulatorOptions(command);
}

/** What `--local` and `serve` can set of the emulator. */
export function addEmulatorOptions(command: Command): Command {
  return command
    .option('--functions <FILE>', 'emulator: a module that exports the functions of its endpoints and routes')
    .option('--workers <N>', 'emulator: jobs at once on each endpoint (default: 4)')
    .option(
      '--latency <LAW>',
      'emulator: how long work takes: 200ms, uniform:100-300, lognormal:8s:0.4 … (default: 0)',
    )
    .option('--faults <LIST>', 'emulator: faults by probability: 429=0.1:2,cut@status=0.05 …')
    .option('--rate-limit <N>', 'emulator: requests a second, beyond which it answers 429')
    .option('--seed <N>', 'emulator: where its chance begins (default: 1)');
}

function addManifestOptions(command: Command): void {
  command
    .optionsGroup('The manifest and its folder:')
    .option('--out <DIR>', 'output folder, and so the run (default: edits.out beside edits.csv)')
    .option('--add', 'the folder holds a run of another manifest: these rows belong to that run')
    .option('--format <FORMAT>', 'csv or jsonl, where the file name does not say it')
    .option(
      '--delimiter <SIGN>',
      'what separates the columns of a CSV: comma, semicolon, tab, bar (default: by its first line)',
    )
    .option('--set <NAME=VALUE>', 'a field for every row; may be repeated', collect)
    .option('--map <NAME=COLUMN>', 'read a field from a column of another name; may be repeated', collect)
    .option(
      '--ignore <NAME>',
      'a column that is your own, though its name looks like a field that is absent; may be repeated',
      collect,
    )
    .option('--kind <KIND>', 'edit, job or route (default: from the columns)')
    .option('--mode <MODE>', 'sync (/runsync) or async (/run and polling) (default: edits sync, jobs async)')
    .option('--limit <N>', 'do only the first N rows that are to be done')
    .option('--only <IDS>', 'do only these rows: ids separated by commas', collect)
    .option('--skip-invalid', 'invalid rows become failures instead of stopping the run');
}

function addPaceOptions(command: Command): void {
  command
    .optionsGroup('Pace and limits:')
    .option(
      '--concurrency <N|auto>',
      'rows in flight; auto finds out, from 4 to 100 (default: auto where rows are async, else 8)',
    )
    .option('--downloads <N>', 'pictures being saved at once (default: 4)')
    .option(
      '--rate <N|runpod>',
      'requests a second, all rows together, or the published limits (default: found out after a 429)',
    )
    .option('--http <CLIENT>', 'got or undici: a quarter of the CPU, to be installed beside (default: got)')
    .option(
      '--runsync-timeout <D>',
      'client timeout of /runsync; past it with no id a row is unknown (default: 60s)',
    )
    .option('--timeout <D>', 'limit of one row, from its first request to its end (default: 1h)')
    .option('--retries <N>', 'extra tries of what is safe to try again (default: 4)')
    .option(
      '--poll-cost <D>',
      'what one status call is worth in lag: more of it asks less and hears later (default: 190ms)',
    );
}

function addDecisionOptions(command: Command): void {
  command
    .optionsGroup('Money and failures:')
    .option(
      '--max-cost <USD|none>',
      'never reserve beyond it, over all starts of the run, which remembers it; none lifts it',
    )
    .option('--max-cost-per-day <USD>', 'the same over all runs that share a ledger, in any 24 hours')
    .option('--ledger <FILE>', "the ledger that runs share (default: in the user's state folder)")
    .option('--prices <FILE>', 'prices of your endpoints, a JSON file (default: the published ones)')
    .option('--assume-price <USD>', 'what a row of no known price is reckoned with; a cap needs it then')
    .option('--max-price-drift <P%>', 'stop when the service charges so much more than was reckoned with')
    .option(
      '--yes',
      'agree to any price: above $25 a start asks, and where it cannot ask it needs this or a cap',
    )
    .option('--on-unknown <ACTION>', 'a request that may have been accepted: hold or retry (default: hold)')
    .option(
      '--retry <CODES>',
      'failures to take up: failed, unknown, expired, all, or codes (default: download,deadline)',
      collect,
    )
    .option(
      '--changed <ACTION>',
      'rows that were bought and have changed since: keep or redo (default: keep)',
    )
    .option(
      '--same <ACTION>',
      'rows that ask for exactly what another row asks for: warn or refuse (default: warn)',
    )
    .option('--halt <N|P%>', 'stop when so many rows have failed')
    .option('--repair', 'go on where the journal is damaged: what cannot be read is held as unknown')
    .option('--no-download', 'leave pictures at their URLs');
}

function collect(value: string, previous: string[] | undefined): string[] {
  return [...(previous ?? []), value];
}
